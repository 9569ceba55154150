/** `duplicates`: which of equal keys in one batch wins, the same on every engine and by every strategy. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CapacityError, DynamicMap, StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { rounds } from "../helpers/rounds.js";
import { expectSame } from "./helpers/checks.js";
import { backend, isForced, scaled, useDevice } from "./helpers/device.js";
import { counting, oddFloats, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const RUNS = rounds(backend === "cpu" ? 80 : scaled(100, 8));
const choices = ["first", "last"] as const;

/** Keys of which a few are sentinels, and all come often. */
const pool = Uint32Array.of(0xffffffff, 0xfffffffe, 0, ...uniqueKeys(20));

interface Batch {
  picks: number[];
  mask: boolean[] | null;
}

const batches: fc.Arbitrary<Batch> = fc
  .tuple(fc.array(fc.tuple(fc.nat(pool.length - 1), fc.boolean()), { maxLength: 60 }), fc.boolean())
  .map(([elements, masked]) => ({
    picks: elements.map(([pick]) => pick),
    mask: masked ? elements.map(([, chosen]) => chosen) : null,
  }));

/** What a Map that goes through a batch in order would do, of each key with one element alone. */
function applyTo(
  model: Map<number, number>,
  call: "insert" | "insertOrAssign" | "insertAndFind",
  which: "first" | "last",
  keys: Uint32Array,
  values: Uint32Array,
  isSelected: (i: number) => boolean,
) {
  const winners = new Map<number, number>();
  let selected = 0;
  for (const [i, key] of keys.entries()) {
    if (!isSelected(i)) continue;
    selected++;
    if (which === "last" || !winners.has(key)) winners.set(key, i);
  }
  const isNew = new Uint8Array(keys.length);
  let inserted = 0;
  for (const [key, i] of winners) {
    if (!model.has(key)) {
      inserted++;
      isNew[i] = 1;
    }
    if (!model.has(key) || call === "insertOrAssign") model.set(key, values[i]);
  }
  return { inserted, existing: selected - inserted, isNew };
}

describe("duplicates", () => {
  it(`${RUNS} random sequences give what a Map gives that takes the first or last of equal keys`, async () => {
    const step = fc.record({
      call: fc.constantFrom("insert", "insertOrAssign", "insertAndFind"),
      which: fc.constantFrom(...choices),
      placement: fc.constantFrom("host", "device", "into"),
      batch: batches,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 5 }),
        fc.nat(backend === "cpu" ? 3 : 0),
        async (steps, seed) => {
          const sizing = { key: "u32", value: "u32", seed } as const;
          using map =
            steps.length % 2
              ? await StaticMap.create(device(), { ...sizing, capacity: 30 })
              : await DynamicMap.create(device(), { ...sizing, capacity: 2 });
          const model = new Map<number, number>();
          let next = 1;
          for (const { call, which, placement, batch } of steps) {
            const keys = Uint32Array.from(batch.picks, (pick) => pool[pick]);
            const values = counting(keys.length, next);
            next += keys.length;
            const mask = batch.mask && Uint8Array.from(batch.mask, Number);
            const expected = applyTo(model, call, which, keys, values, (i) => mask?.[i] !== 0);
            const onDevice = placement === "device";
            const up = async <T extends Uint32Array | Uint8Array>(data: T) =>
              onDevice ? await device().upload(data as Uint32Array) : (data as Uint32Array);
            const options = {
              duplicates: which,
              ...(mask && { mask: (await up(mask)) as never }),
            };
            const [k, v] = [await up(keys), await up(values)];
            if (call === "insert") {
              expect(await map.insert(k, v, options)).toEqual({
                inserted: expected.inserted,
                existing: expected.existing,
              });
            } else if (call === "insertOrAssign") {
              expect(await map.insertOrAssign(k, v, options)).toEqual({
                inserted: expected.inserted,
                assigned: expected.existing,
              });
            } else {
              const into = {
                values: new Uint32Array(keys.length).fill(9),
                isNew: new Uint8Array(keys.length).fill(9),
              };
              const answer = await map.insertAndFind(k, v, {
                ...options,
                ...(placement === "into" ? { into } : { output: onDevice ? "device" : "host" }),
              });
              const { inserted, existing } = expected;
              expect(answer).toMatchObject({ inserted, existing });
              const read = async (column: unknown) =>
                ArrayBuffer.isView(column) ? column : (column as { read(): Promise<Uint8Array> }).read();
              expectSame((await read(answer.isNew)) as Uint8Array, expected.isNew);
              expectSame(
                (await read(answer.values)) as Uint32Array,
                Array.from(keys, (key, i) => (mask?.[i] === 0 ? 0 : (model.get(key) ?? 0))),
              );
            }
          }
          const { values, found } = await map.find(pool);
          expectSame(
            found,
            Array.from(pool, (key) => Number(model.has(key))),
          );
          expectSame(
            values,
            Array.from(pool, (key) => model.get(key) ?? 0),
          );
          expect(map.size).toBe(model.size);
        },
      ),
      { numRuns: RUNS },
    );
  });

  const COUNT = scaled(300_000, 20_000);
  for (const distinct of [1, 7, COUNT / 4]) {
    it(`chooses among ${COUNT} elements with ${distinct} keys, by any strategy`, async () => {
      const keys = uniqueKeys(distinct);
      const batch = Uint32Array.from(counting(COUNT), (i) => keys[(i * 13) % distinct]);
      const strategies = backend === "cpu" ? (["direct", "partitioned"] as const) : (["auto"] as const);
      for (const strategy of isForced ? (["auto"] as const) : strategies) {
        for (const which of choices) {
          using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: distinct });
          const inserted = await map.insert(batch, counting(COUNT), { duplicates: which, strategy });
          expect(inserted).toEqual({ inserted: distinct, existing: COUNT - distinct });
          const model = new Map<number, number>();
          applyTo(model, "insert", which, batch, counting(COUNT), () => true);
          expectSame(
            (await map.find(keys)).values,
            Array.from(keys, (key) => model.get(key) as number),
          );
        }
      }
    });
  }

  it("chooses among keys of two words, and floats that are equal", async () => {
    using wide = await StaticMap.create(device(), { key: "u64", value: "u64", capacity: 10 });
    const keys = BigUint64Array.from(counting(100), (i) => BigInt(i % 5) << 32n);
    const values = BigUint64Array.from(counting(100), BigInt);
    await wide.insert(keys, values, { duplicates: "last" });
    expect((await wide.find(keys.subarray(0, 5))).values).toEqual(BigUint64Array.of(95n, 96n, 97n, 98n, 99n));
    using floats = await StaticMap.create(device(), { key: "f32", value: "u32", capacity: 50 });
    const odd = new Float32Array(oddFloats.buffer, oddFloats.byteOffset, oddFloats.length);
    for (const which of choices) {
      const model = new Map<number, number>();
      for (const [i, key] of odd.entries()) if (which === "last" || !model.has(key)) model.set(key, i);
      await floats.clear();
      const { inserted } = await floats.insertOrAssign(odd, counting(odd.length), { duplicates: which });
      expect(inserted).toBe(model.size);
      expectSame(
        (await floats.find(odd)).values,
        Array.from(odd, (key) => model.get(key) as number),
      );
    }
  });

  it("takes pinned arrays, and tells sets which element was new", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    using keys = await device().pinned("u32", 6, "upload");
    keys.array.set([5, 6, 5, 7, 6, 5]);
    const { isNew, inserted } = await set.insertAndFind(keys, { duplicates: "last" });
    expect([inserted, [...isNew]]).toEqual([3, [0, 0, 0, 1, 1, 1]]);
    expect(await set.insert(keys, { duplicates: "first" })).toEqual({ inserted: 0, existing: 6 });
    expect(await set.insert(new Uint32Array(0), { duplicates: "last" })).toEqual({
      inserted: 0,
      existing: 0,
    });
  });

  it("counts every element of a key that found no slot", async () => {
    for (const which of choices) {
      using map = await StaticMap.create(device(), {
        key: "u32",
        value: "u32",
        capacity: 4,
        maxLoadFactor: 1,
      });
      await map.insert(Uint32Array.of(1, 2, 3), counting(3));
      // one of the two keys goes in
      const keys = Uint32Array.of(10, 11, 10, 11, 10, 11, 2);
      const error = await map
        .insertOrAssign(keys, counting(7), { duplicates: which })
        .catch((error) => error);
      expect(error).toBeInstanceOf(CapacityError);
      expect(error).toMatchObject({ inserted: 1, rejected: 3 });
      const { values, found } = await map.find(Uint32Array.of(10, 11, 2));
      expect(found[0] + found[1]).toBe(1);
      expect(values[found[0] ? 0 : 1]).toBe((which === "first" ? 0 : 4) + (found[0] ? 0 : 1));
      expect(values[2]).toBe(6);
    }
  });

  it("is an option of inserts alone, with three values", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 4 });
    const [k, v] = [counting(2), counting(2)];
    await expect(map.insert(k, v, { duplicates: "frist" as never })).rejects.toThrow(ValidationError);
    await expect(map.insertOrApply(k, v, "add", { duplicates: "last" } as never)).rejects.toThrow(
      "no option",
    );
    await expect(map.find(k, { duplicates: "last" } as never)).rejects.toThrow("no option");
    expect(await map.insert(k, v, { duplicates: "any" })).toEqual({ inserted: 2, existing: 0 });
  });
});
