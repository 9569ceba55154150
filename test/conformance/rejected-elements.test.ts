/**
 * Which elements an insert rejected: the engines' `rejected` mask. Called at the engine, as containers do, because no public call
 * has it yet. What the table holds afterwards, and a plain Map, say what the mask must be.
 */
import { describe, expect, it } from "vitest";
import type { DeviceArray } from "../../src/engine/device-array.js";
import type { Input, InsertPolicy, InsertTally, Table } from "../../src/engine/engine.js";
import type { Scalar, ScalarArrays } from "../../src/engine/scalars.js";
import { covering } from "../helpers/rounds.js";
import { expectNoneSet, expectSame } from "./helpers/checks.js";
import { inBrowser, scaled, useDevice } from "./helpers/device.js";
import { counting, keysWithHome, maskOf, uniqueKeys } from "./helpers/keys.js";
import { type Column, columnOf, edges, integers, listOf } from "./helpers/wide-model.js";

type AnyTable = Table<Scalar, Scalar>;
/** A tally, the mask as an array, and the mask. */
type Outcome = InsertTally & { flags: Uint8Array; mask: DeviceArray<"u8"> };

const device = useDevice();
/** Elements of a batch that engines on the host and on a software GPU take in several chunks. */
const LONG = scaled(2 ** 18 + 1, 100_001);

function create(key: Scalar, value: Scalar | null, slots: number): Promise<AnyTable> {
  return device().engine.createTable({ key, value: value as Scalar, slots, hash: "murmur3" });
}

/** Inserts, with a mask that holds something before, and checks the mask against what the table holds then. */
async function insert(
  table: AnyTable,
  policy: InsertPolicy,
  keys: Column,
  values: Column | null,
  where?: Uint8Array | DeviceArray<"u8">,
  strategy = device().engine.defaults.strategy,
): Promise<Outcome> {
  const { engine } = device();
  const rejected = await engine.upload("u8", new Uint8Array(keys.length).fill(0xa5));
  const tally = await table.insert(keys, values, policy, { ...engine.defaults, strategy, where, rejected });
  const flags = await rejected.read();
  const selected = where instanceof Uint8Array ? where : await where?.read();
  expectSame(flags, await absent(table, keys, selected));
  expect(count(flags)).toBe(tally.rejected);
  expect(tally.inserted + tally.existing + tally.rejected).toBe(selected ? count(selected) : keys.length);
  return { ...tally, flags, mask: rejected };
}

/** 1 for each selected element whose key is not in the table. */
async function absent(table: AnyTable, keys: Column, selected?: Uint8Array): Promise<Uint8Array> {
  const stored = await table.retrieveAll("host", {});
  const isThere = new Set(listOf(stored.keys as Column));
  expect(isThere.size).toBe(table.live);
  return Uint8Array.from(listOf(keys), (key, i) => Number(selected?.[i] !== 0 && !isThere.has(key)));
}

/** Elements that a mask selects. */
function count(mask: Uint8Array): number {
  return mask.reduce((sum, flag) => sum + Number(flag !== 0), 0);
}

async function entriesOf(table: AnyTable): Promise<Map<number | bigint, number | bigint>> {
  const { keys, values } = await table.retrieveAll("host", {});
  const list = listOf(keys as Column);
  const entries = new Map(listOf((values ?? keys) as Column).map((value, i) => [list[i], value]));
  expect(entries.size).toBe(list.length);
  return entries;
}

const shapes: { key: Scalar; value: Scalar | null; policies: InsertPolicy[] }[] = [
  { key: "u32", value: "u32", policies: ["keep", "assign", "add"] },
  // of 32 bits like the first
  {
    key: "f32",
    value: "i32",
    policies: covering(["keep", "assign", "add"] as const, (policy) => policy === "assign"),
  },
  { key: "i32", value: null, policies: ["keep"] },
  { key: "u64", value: "u64", policies: ["keep"] },
  { key: "u32", value: "u64", policies: ["keep"] },
  { key: "u64", value: null, policies: ["keep"] },
];

for (const { key, value, policies } of shapes.filter((_, i) => !inBrowser || i % 2 === 0)) {
  const batch = (from: number, size: number, times = 1) => {
    const keys = integers(size, from);
    return columnOf(
      key,
      Array.from({ length: size * times }, (_, i) => keys[(i * 7) % size]),
    );
  };
  const ones = (length: number) => (value === null ? null : columnOf(value, new Array(length).fill(1n)));

  describe(`${key} to ${value ?? "nothing"}`, () => {
    for (const policy of policies) {
      it(`"${policy}" of new, old and repeated keys marks all elements of a rejected key`, async () => {
        const table = await create(key, value, 200);
        await insert(table, policy, batch(0, 120), ones(120));
        const keys = batch(60, 300, 3);
        const first = await insert(table, policy, keys, ones(keys.length));
        expect(first.rejected).toBeGreaterThan(400);
        // again, with the table full from the start, and a mask
        const again = await insert(table, policy, keys, ones(keys.length), maskOf(keys.length));
        expect(again.inserted).toBe(0);
        expect(again.rejected).toBeGreaterThan(250);
        table.destroy();
      });

      it(`"${policy}" of what was rejected, into a second table, loses no key and applies none twice`, async () => {
        const [small, large] = [await create(key, value, 150), await create(key, value, 900)];
        const keys = batch(0, 400, 3);
        const mask = maskOf(keys.length);
        const values = value === null ? null : columnOf(value, Array.from(counting(keys.length, 1), BigInt));
        const first = await insert(small, policy, keys, values, mask);
        const left = await insert(large, policy, keys, values, first.mask);
        expectNoneSet(left.flags, keys.length);
        const [kept, moved] = [await entriesOf(small), await entriesOf(large)];
        const brought = new Map<number | bigint, (number | bigint)[]>();
        listOf(keys).forEach((each, i) => {
          if (mask[i] === 0) return;
          brought.set(each, [...(brought.get(each) ?? []), values === null ? each : values[i]]);
        });
        expect(kept.size).toBe(150);
        expect(kept.size + moved.size).toBe(brought.size);
        for (const [each, choices] of brought) {
          const stored = kept.get(each) ?? moved.get(each);
          const sum = choices.reduce((a, b) => Number(a) + Number(b), 0);
          if (policy === "add") expect(stored).toBe(sum);
          else expect(choices).toContain(stored);
        }
        small.destroy();
        large.destroy();
      });
    }

    it("a batch that fits leaves no mark", async () => {
      const table = await create(key, value, 1000);
      for (const keys of [batch(0, 300), batch(0, 300, 3), columnOf(key, [])]) {
        const { flags } = await insert(table, "keep", keys, ones(keys.length));
        expectNoneSet(flags, keys.length);
      }
      table.destroy();
    });

    it("a full table of long probes", async () => {
      const slots = 2 ** 11;
      const table = await create(key, value, slots);
      const keys = batch(0, 2 * slots);
      const first = await insert(table, "keep", keys, ones(keys.length));
      expect(first.inserted).toBe(slots);
      const second = await insert(table, "keep", keys, ones(keys.length));
      expectSame(second.flags, first.flags);
      // freed slots are taken, and what does not fit is marked; which keys went in is not specified
      const kept = keys.filter((_, i) => first.flags[i] === 0);
      expect(await table.erase(kept.subarray(0, 100), device().engine.defaults)).toBe(100);
      const third = await insert(table, "keep", keys, ones(keys.length), maskOf(keys.length));
      expect(third.rejected).toBeGreaterThan(0);
      expect(table.live).toBe(slots);
      table.destroy();
    });
  });
}

describe("keys that equal a sentinel", () => {
  it("have a place of their own and are never marked, where keys are of one word", async () => {
    for (const value of ["u32", "u64", null] as const) {
      const table = await create("u32", value, 10);
      const keys = Uint32Array.of(...uniqueKeys(30), 0xffffffff, 0xfffffffe, 0xffffffff);
      const values = value === null ? null : columnOf(value, Array.from(keys, BigInt));
      const { flags, inserted } = await insert(table, "keep", keys, values);
      expect(inserted).toBe(12);
      expectNoneSet(flags.subarray(30), 3);
      table.destroy();
    }
  });

  it("are keys like others, where keys are of two", async () => {
    const table = await create("u64", "u64", 20);
    const keys = BigUint64Array.from([...edges, ...edges.toReversed()]);
    const { inserted, rejected } = await insert(table, "keep", keys, keys);
    expect([inserted, rejected]).toEqual([20, 2 * (edges.length - 20)]);
    table.destroy();
  });
});

describe("keys of one home slot", () => {
  it("are marked when the table is full of them", async () => {
    const table = await create("u32", "u32", 64);
    const keys = keysWithHome(50, 64, 100);
    const { rejected } = await insert(table, "add", Uint32Array.of(...keys, ...keys), counting(200));
    expect(rejected).toBe(72);
    table.destroy();
  });
});

describe("a table of one slot", () => {
  it("marks every element of every key but one", async () => {
    const table = await create("u32", "u32", 1);
    await insert(table, "keep", Uint32Array.of(5), Uint32Array.of(50));
    const keys = Uint32Array.of(6, 6, 5, 6, 5, 7);
    const where = Uint8Array.of(1, 255, 1, 0, 1, 2);
    const { flags } = await insert(table, "assign", keys, counting(6), where);
    expect([...flags]).toEqual([1, 1, 0, 0, 0, 1]);
    table.destroy();
  });
});

describe("a strategy that was asked for", () => {
  for (const strategy of inBrowser ? (["direct"] as const) : (["direct", "partitioned"] as const)) {
    it(`${strategy}: marks the same as any other`, async () => {
      const [small, large] = [await create("u32", "u32", 3000), await create("u32", "u32", 3000)];
      const keys = Uint32Array.from({ length: 8000 }, (_, i) => uniqueKeys(1, i % 4000)[0]);
      const ones = new Uint32Array(8000).fill(1);
      const first = await insert(small, "add", keys, ones, undefined, strategy);
      expect(first.rejected).toBe(2000);
      const second = await insert(large, "add", keys, ones, first.mask, strategy);
      expectNoneSet(second.flags, 8000);
      expect([second.inserted, second.existing]).toEqual([1000, 1000]);
      small.destroy();
      large.destroy();
    });
  }
});

describe("a long batch", () => {
  for (const key of ["u32", "u64"] as const) {
    it(`of ${key}, from arrays of the host and of the device`, async () => {
      const { engine } = device();
      const [different, slots] = [900, 600];
      const few = columnOf(key, integers(different));
      const keys = few.constructor === Uint32Array ? new Uint32Array(LONG) : new BigUint64Array(LONG);
      for (let i = 0; i < LONG; i += different) keys.set(few.subarray(0, LONG - i) as never, i);
      const values = new Uint32Array(LONG).fill(1);
      const onDevice: Input<Scalar> = (await engine.upload(
        key,
        keys as ScalarArrays[typeof key],
      )) as DeviceArray<Scalar> as Input<Scalar>;
      for (const input of [keys, onDevice]) {
        const table = await create(key, "u32", slots);
        const rejected = await engine.upload("u8", new Uint8Array(LONG).fill(1));
        const call = { ...engine.defaults, rejected };
        const tally = await table.insert(input, values, key === "u32" ? "add" : "keep", call);
        const flags = await rejected.read();
        expectSame(flags, await absent(table, keys));
        expect(tally).toMatchObject({ inserted: slots, rejected: count(flags) });
        table.destroy();
      }
    });
  }
});
