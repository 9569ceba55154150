/** Dictionaries, under tables of utf8 keys: equal bytes have one number, and different ones never, also where hashes are equal. */
import { describe, expect, it } from "vitest";
import { readKeys } from "../../src/containers/utf8/read-keys.js";
import { type Dictionary, type DictionarySpec, NO_NUMBER } from "../../src/engine/dictionary.js";
import { onGpu, scaled, useDevice } from "./helpers/device.js";

const device = useDevice();

/** Strings at the edges: of every length around words and blocks, with prefixes of each other, U+0000, beyond U+FFFF. */
const edges = distinct([
  "",
  "\0",
  "\0\0\0\0",
  "a",
  "a\0",
  "é",
  "€",
  "😀",
  "a😀\u{10ffff}b",
  "\ufeffbom",
  ...Array.from({ length: 70 }, (_, n) => "x".repeat(n)),
  ...Array.from({ length: 20 }, (_, n) => `${"x".repeat(n)}y`),
  "z".repeat(5000),
]);

function distinct(strings: readonly string[]): string[] {
  return [...new Set(strings)];
}

class Numbered implements Disposable {
  /** What the dictionary is to have. */
  readonly known = new Map<string, number>();

  constructor(readonly dictionary: Dictionary) {}

  static async open(spec: Partial<DictionarySpec> = {}): Promise<Numbered> {
    return new Numbered(await device().engine.dictionary({ hash: "murmur3", ...spec }));
  }

  /** Adds strings, and sees that numbers are those of before, and otherwise new. */
  async add(strings: readonly string[]): Promise<void> {
    const array = await this.dictionary.add(readKeys(strings), {});
    const numbers = await array.read();
    array.destroy();
    const taken = new Set(this.known.values());
    const expected = strings.map((string, i) => {
      const before = this.known.get(string);
      if (before !== undefined) return before;
      const number = taken.has(numbers[i]) ? "a number that no other string has" : numbers[i];
      taken.add(numbers[i]);
      this.known.set(string, numbers[i]);
      return number;
    });
    expect([...numbers]).toEqual(expected);
    expect(this.dictionary.strings).toBe(this.known.size);
  }

  async expectLookUp(strings: readonly string[]): Promise<void> {
    const array = await this.dictionary.lookUp(readKeys(strings), {});
    expect([...(await array.read())]).toEqual(strings.map((string) => this.known.get(string) ?? NO_NUMBER));
    array.destroy();
  }

  /** The strings by their numbers. */
  async expectStrings(): Promise<void> {
    const column = await this.dictionary.read(Uint32Array.from(this.known.values()));
    expect(column.toArray()).toEqual([...this.known.keys()]);
  }

  /** Another dictionary, of some of the strings. */
  async compact(strings: readonly string[]): Promise<Numbered> {
    const old = await device().upload(
      Uint32Array.from(strings, (string) => this.known.get(string) as number),
    );
    const { dictionary, numbers } = await this.dictionary.compact(old);
    const other = new Numbered(dictionary);
    for (const [i, number] of (await numbers.read()).entries()) other.known.set(strings[i], number);
    numbers.destroy();
    old.destroy();
    expect(dictionary.strings).toBe(strings.length);
    return other;
  }

  [Symbol.dispose](): void {
    this.dictionary.destroy();
  }
}

const many = (count: number, prefix = "") => Array.from({ length: count }, (_, i) => `${prefix}${i * 7}`);

for (const hash of ["murmur3", "xxhash32"] as const) {
  describe(hash, () => {
    it("numbers strings, finds them and gives them back", async () => {
      using numbered = await Numbered.open({ hash });
      await numbered.expectLookUp(edges);
      await numbered.add(edges);
      await numbered.add([...edges.toReversed(), ...many(100), ...many(100)]);
      await numbered.expectLookUp([...many(130), ...edges, "b", "\0\0"]);
      await numbered.expectStrings();
    });
  });
}

it("grows, and keeps its numbers", async () => {
  using numbered = await Numbered.open();
  const count = scaled(30_000, 6000);
  await numbered.add(many(1000));
  await numbered.expectLookUp(many(1100));
  await numbered.add(many(count, "a common prefix, longer than a few words, "));
  await numbered.expectLookUp([...numbered.known.keys(), ...many(1500)]);
  await numbered.expectStrings();
});

it("tells strings apart whose hashes are equal", async () => {
  using numbered = await Numbered.open({ hashMask: 3 });
  await numbered.add([...edges, ...many(scaled(2000, 300))]);
  await numbered.add(many(scaled(2100, 330)));
  await numbered.expectLookUp([...many(2300), ...edges]);
  using some = await numbered.compact(many(100));
  await some.expectLookUp([...many(200), ...edges]);
});

it("compacts to some of its strings, which get other numbers", async () => {
  using numbered = await Numbered.open();
  const count = scaled(20_000, 5000);
  await numbered.add([...many(count, "long enough for several words "), ...edges]);
  const kept = [...many(count / 4, "long enough for several words "), ...edges];
  using some = await numbered.compact(kept);
  await some.expectLookUp([...many(200, "long enough for several words "), ...many(50), ...edges]);
  await some.expectStrings();
  await some.add(many(3000));
  await some.expectStrings();
  using none = await numbered.compact([]);
  await none.expectLookUp(edges);
  await numbered.expectLookUp(kept);
});

it("is empty after clear", async () => {
  using numbered = await Numbered.open();
  await numbered.add(edges);
  await numbered.dictionary.clear();
  expect(numbered.dictionary).toMatchObject({ strings: 0, usedBytes: 0 });
  numbered.known.clear();
  await numbered.expectLookUp(edges);
  await numbered.add(edges.toReversed());
  await numbered.expectStrings();
});

it("takes a mask, which leaves strings out", async () => {
  using numbered = await Numbered.open();
  const strings = many(1000);
  const where = Uint8Array.from(strings, (_, i) => (i % 3 === 0 ? 255 : 0));
  const masked = await device().upload(where);
  const array = await numbered.dictionary.add(readKeys(strings), { where: masked });
  expect(numbered.dictionary.strings).toBe(334);
  const numbers = await array.read();
  for (const [i, string] of strings.entries()) if (where[i]) numbered.known.set(string, numbers[i]);
  await numbered.expectLookUp(strings);
});

it("many equal strings have one number, and long ones are compared to their ends", async () => {
  using numbered = await Numbered.open();
  await numbered.add(new Array(scaled(100_000, 5000)).fill("the same"));
  const long = "0123456789abcdef".repeat(onGpu ? 2 ** 12 : 2 ** 16);
  await numbered.add([long, `${long}!`, `${long}?`, `${long.slice(1)}0`, long]);
  await numbered.expectLookUp([`${long}.`, long.slice(1), `${long}?`]);
  await numbered.expectStrings();
});

it("large batches, which threads share", async () => {
  using numbered = await Numbered.open();
  const count = onGpu ? 2000 : 80_000;
  await numbered.add(many(count));
  await numbered.add([...many(count / 2, "other "), ...many(count / 2), ...edges]);
  await numbered.expectLookUp([...many(count / 2, "other"), ...many(count / 2), ...edges]);
  const where = Uint8Array.from({ length: count }, (_, i) => i % 2);
  (await numbered.dictionary.add(readKeys(many(count, "masked ")), { where })).destroy();
  expect(numbered.dictionary.strings).toBe(numbered.known.size + count / 2);
});
