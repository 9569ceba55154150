/** Strings whose bytes are written to, or taken away, while a call works on them: what a table holds can be found. */
import { expect, it } from "vitest";
import { StaticSet } from "../../src/index.js";
import { inBrowser, openTestDevice, scaled, useDevice } from "./helpers/device.js";

const device = useDevice();
/** So many that the cpu engine has threads look them up. */
const COUNT = scaled(2 ** 16 + 1000, 3000);
const LETTERS = 6;

const offsetsOf = () => Uint32Array.from({ length: COUNT + 1 }, (_, i) => i * LETTERS);

/** Numbers of six digits, from 100,000 on. */
function fill(bytes: Uint8Array, shift: number): void {
  for (let i = 0; i < COUNT; i++) {
    let rest = 100_000 + ((i + shift) % 900_000);
    for (let at = i * LETTERS + LETTERS - 1; at >= i * LETTERS; at--) {
      bytes[at] = 48 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
  }
}

async function expectFindable(set: StaticSet<"utf8">): Promise<void> {
  const { keys } = await set.retrieveAll();
  expect(keys.length).toBe(set.size);
  const found = await set.contains(keys);
  expect(found.every((flag) => flag === 1)).toBe(true);
  expect(new Set(keys).size).toBe(keys.length);
}

it("by the caller, in the middle of an insert", async () => {
  using threads = inBrowser ? null : await openTestDevice({ threads: 3 } as never);
  for (let round = 0; round < 3; round++) {
    using set = await StaticSet.create(threads ?? device(), { key: "utf8", capacity: 2 * COUNT });
    const bytes = new Uint8Array(COUNT * LETTERS);
    fill(bytes, 0);
    let ended = false;
    const inserting = set.insert({ offsets: offsetsOf(), bytes }).finally(() => {
      ended = true;
    });
    for (let shift = 1; !ended; shift++) {
      fill(bytes, 100_000 * shift);
      await new Promise((resolve) => setTimeout(resolve));
    }
    await inserting;
    await expectFindable(set);
  }
});

it.runIf(typeof SharedArrayBuffer !== "undefined")(
  "in shared memory: they are those of the call",
  async () => {
    using set = await StaticSet.create(device(), { key: "utf8", capacity: 2 * COUNT });
    const bytes = new Uint8Array(new SharedArrayBuffer(COUNT * LETTERS));
    const offsets = new Uint32Array(new SharedArrayBuffer(4 * COUNT + 4));
    fill(bytes, 0);
    offsets.set(offsetsOf());
    const inserting = set.insert({ offsets, bytes });
    bytes.fill(90);
    offsets.fill(2 ** 31);
    expect(await inserting).toEqual({ inserted: COUNT, existing: 0 });
    await expectFindable(set);
    expect((await set.retrieveAll()).keys.toArray().sort().at(0)).toBe("100000");
  },
);

it("bytes that are transferred fail their call", async () => {
  using set = await StaticSet.create(device(), { key: "utf8", capacity: 2 * COUNT });
  const bytes = new Uint8Array(COUNT * LETTERS);
  fill(bytes, 0);
  const inserting = set.insert({ offsets: offsetsOf(), bytes });
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  await expect(inserting).rejects.toThrow(/detached/);
  await expectFindable(set);
});
