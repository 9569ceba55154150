/**
 * Keys that all share a few home slots: each of n keys is probed for through up to n slots. Calls stay interruptible whatever the
 * keys. Counted in elements between two looks at the signal, under a clock that goes on by 100 ms at each look.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import { LONG_MS, pace, runLength } from "../../../../src/engine/cpu/table/pace.js";
import type { Scalar } from "../../../../src/engine/scalars.js";
import { checkTable } from "../../../helpers/check-table.js";
import type { AnyTable } from "../drive.js";

/** A run's slots in tests, so that COUNT keys in one chain are 16 runs. */
const RUN_SLOTS = 2 ** 18;
const COUNT = 2 ** 11;
const keys = Uint32Array.from({ length: COUNT }, (_, i) => i);

const RUN_SLOTS_OF_ALL = pace.runSlots;
const opened: CpuEngine[] = [];
beforeEach(() => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += LONG_MS;
    return now;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  pace.runSlots = RUN_SLOTS_OF_ALL;
  for (const engine of opened.splice(0)) engine.destroy();
});

/** An identity-hashed table for COUNT keys and more, in which `keys` have one home slot. */
async function open(threads: number, key: Scalar = "u32", slots = 2 * COUNT): Promise<AnyTable> {
  // jobs as threads share them, for which no worker is woken: its clock is another one
  const sizes = { chunk: 2 ** 15, lookUpFrom: 1, changeFrom: 1, share: 2 ** 20, ranges: 16, pause: 0 };
  const engine = (await openCpuEngine({ threads, tuning: sizes })) as CpuEngine;
  opened.push(engine);
  return (await engine.createTable({ key, value: key, slots, hash: "identity" })) as AnyTable;
}

function takeShortRuns(): void {
  pace.runSlots = RUN_SLOTS;
}

/** Call options, and where a call stood when it told its progress. */
function watched() {
  const ends: number[] = [];
  return { ends, call: { onProgress: (done: number) => void ends.push(done) } };
}

/** Bulk calls on a table, by name. */
const calls: Record<string, (table: AnyTable, call: object) => Promise<unknown>> = {
  insert: (table, call) => table.insert(keys, keys, "keep", call),
  "insert again": (table, call) => table.insert(keys, keys, "keep", call),
  insertOrApply: (table, call) => table.insert(keys, keys, "xor", call),
  insertAndFind: (table, call) => table.insertAndFind(keys, keys, "host", call),
  find: (table, call) => table.find(keys, 0, "host", call),
  contains: (table, call) => table.contains(keys, "host", call),
  erase: (table, call) => table.erase(keys, call),
};

it("a run is whole blocks up to a maxProbe of 2^12, and one element at least", () => {
  expect([0, 1, 2 ** 12, 2 ** 12 + 1, 2 ** 22, 2 ** 30].map(runLength)).toEqual([
    2 ** 22,
    2 ** 22,
    2 ** 10,
    2 ** 9,
    1,
    1,
  ]);
});

describe("keys with one home slot, one thread", () => {
  beforeEach(takeShortRuns);

  it("no call looks at more than two runs' slots between two looks at the signal", async () => {
    const table = await open(1);
    for (const [name, run] of Object.entries(calls)) {
      const { ends, call } = watched();
      await run(table, call);
      let from = 0;
      for (const to of ends) {
        // in an insert the chain grows to `to`; in the others it is as long as can be
        const chain = name === "insert" ? to : COUNT;
        expect((to - from) * chain, `${name}, ${from} to ${to}`).toBeLessThanOrEqual(2 * RUN_SLOTS);
        from = to;
      }
      expect(from).toBe(COUNT);
      if (name !== "erase") expect(checkTable(table).size).toBe(COUNT);
    }
    expect(table.live).toBe(0);
  });

  it("nor where the first of a block's keys makes the bound long", async () => {
    const slots = 2 ** 13;
    const table = await open(1, "u32", slots);
    const row = Uint32Array.from({ length: slots / 2 }, (_, i) => i * (2 ** 32 / slots));
    await table.insert(row, row, "keep", {});
    const { ends, call } = watched();
    const crowd = keys.subarray(1, 1025);
    expect(await table.insert(crowd, crowd, "keep", call)).toMatchObject({ inserted: crowd.length });
    const longest = Math.max(...ends.map((to, i) => to - (ends[i - 1] ?? 0)));
    expect(longest * row.length).toBeLessThanOrEqual(2 * RUN_SLOTS);
  });

  it("nor with slots of several words", async () => {
    const table = await open(1, "u64");
    const wide = BigUint64Array.from({ length: COUNT }, (_, i) => (BigInt(i) << 32n) + 5n);
    for (const run of [
      (call: object) => table.insert(wide, wide, "keep", call),
      (call: object) => table.find(wide, 0n, "host", call),
      (call: object) => table.erase(wide, call),
    ]) {
      const { ends, call } = watched();
      await run(call);
      const longest = Math.max(...ends.map((to, i) => (to - (ends[i - 1] ?? 0)) * to));
      expect(longest).toBeLessThanOrEqual(2 * RUN_SLOTS);
      expect(ends.at(-1)).toBe(wide.length);
    }
    expect(table.live).toBe(0);
  });
});

describe("keys with one home slot, shared chunks", () => {
  beforeEach(takeShortRuns);

  it("a job that takes long ends, and the call tells how far it came", async () => {
    const table = await open(2);
    for (const [name, run] of Object.entries(calls)) {
      const { ends, call } = watched();
      await run(table, { ...call, strategy: "partitioned" });
      // 2^22 slots in runs of 2^18, in an insert half as many
      expect(ends.length, name).toBeGreaterThan(5);
      expect(ends.at(-1)).toBe(COUNT);
      expect(
        ends.every((end, i) => i === 0 || end >= ends[i - 1]),
        name,
      ).toBe(true);
      if (name !== "erase") expect(checkTable(table).size).toBe(COUNT);
    }
    expect(table.live).toBe(0);
  });

  it("what is left is done in input order, in ranges that nobody took also", async () => {
    const table = await open(2, "u32", 4 * COUNT);
    const spread = Uint32Array.from({ length: COUNT }, (_, i) => (i * 2 ** 31 + 2 ** 30) / COUNT);
    // twice, with other values: the later ones stay
    const half = [...keys.subarray(0, COUNT / 2), ...spread.subarray(0, COUNT / 2)];
    const all = Uint32Array.from([...half, ...half]);
    const values = all.map((_, i) => i);
    const expected = new Map(half.map((key, i) => [key, half.length + i]));
    const answer = await table.insert(all, values, "assign", { strategy: "partitioned" });
    expect(answer).toEqual({ inserted: COUNT, existing: COUNT, rejected: 0 });
    expect(checkTable(table)).toEqual(expected);
    const { found, values: read } = await table.find(all, 7, "host", { strategy: "partitioned" });
    expect(found).toEqual(new Uint8Array(all.length).fill(1));
    expect(read).toEqual(all.map((key) => expected.get(key) as number));
    expect(await table.erase(all.subarray(0, half.length - 9), { strategy: "partitioned" })).toBe(COUNT - 9);
    expect([...checkTable(table).keys()].sort()).toEqual(half.slice(-9).sort());
  });

  it("a signal is heard in between; what was done stays done", async () => {
    for (const name of ["insert", "find", "erase"]) {
      const table = await open(2);
      if (name !== "insert") await calls.insert(table, {});
      const stop = new AbortController();
      const reason = new Error("enough");
      let told = 0;
      const onProgress = () => ++told === 3 && stop.abort(reason);
      const call = calls[name](table, { onProgress, signal: stop.signal, strategy: "partitioned" });
      await expect(call, name).rejects.toBe(reason);
      expect(told).toBe(3);
      // throws where counts and slots differ
      const { size } = checkTable(table);
      expect(size).toBeGreaterThan(0);
      if (name !== "find") expect(size).toBeLessThan(COUNT);
    }
  });
});

describe("a full table's set of keys", () => {
  const slots = 2 ** 18 + 1000;
  const few = 20;
  for (const key of ["u32", "u64"] as const) {
    it(`is made in pieces, ${key} keys`, async () => {
      const table = await open(1, key, slots);
      const make = (length: number, of: (i: number) => number) =>
        key === "u32"
          ? Uint32Array.from({ length }, (_, i) => of(i))
          : BigUint64Array.from({ length }, (_, i) => BigInt(of(i)));
      // one key a slot but for the last few, which have the first slots for homes
      const home = (i: number) => Math.ceil((i * 2 ** 32) / slots);
      const keysOf = make(slots, (i) => (i < slots - few ? home(i) : home(i - (slots - few)) + 1));
      await table.insert(keysOf, keysOf, "keep", {});
      expect(table.live).toBe(slots);
      const { ends, call } = watched();
      const others = make(10, (i) => home(i) + 2);
      expect(await table.insert(others, others, "keep", call)).toEqual({
        inserted: 0,
        existing: 0,
        rejected: 10,
      });
      expect([ends[0], ends.at(-1)]).toEqual([0, 10]);
      expect(await table.insert(keysOf.subarray(0, 9), keysOf.subarray(0, 9), "keep", {})).toMatchObject({
        existing: 9,
      });
    });
  }
});
