/**
 * The multi-threaded path beside the single-threaded one, on batches large enough that workers really take
 * part.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import { TABLE_JOBS } from "../../../../src/engine/cpu/table/table-jobs.js";
import type { InsertPolicy } from "../../../../src/engine/engine.js";
import { murmur3 } from "../../../../src/engine/hash.js";
import { hashNames } from "../../../../src/engine/hash-names.js";
import type { TableSpec } from "../../../../src/engine/layout.js";
import { asBits } from "../../../../src/engine/scalars.js";
import { checkTable } from "../../../helpers/check-table.js";
import { countWorkers, type WorkerCount } from "../../../helpers/count-workers.js";
import { covering } from "../../../helpers/rounds.js";
import { type AnyTable, expectSame } from "../drive.js";

const COUNT = 16_000;
let alone: CpuEngine;
let together: CpuEngine;
let workers: WorkerCount;

beforeAll(async () => {
  alone = (await openCpuEngine({ threads: 1 })) as CpuEngine;
  const tuning = {
    chunk: 2 ** 13,
    lookUpFrom: 64,
    changeFrom: 64,
    share: 2 ** 9,
    slice: 2 ** 9,
    grain: 2 ** 8,
    ranges: 16,
    pause: 0,
  };
  together = (await openCpuEngine({ threads: 3, tuning })) as CpuEngine;
  workers = await countWorkers(together.host, TABLE_JOBS);
});
afterAll(() => {
  workers.expectSome();
  alone.destroy();
  together.destroy();
});

/** Numbers that look random and are the same in every run. */
function random(count: number, below: number, seed: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) =>
    Math.floor((murmur3(seed * 0x1000193 + i) / 2 ** 32) * below),
  );
}

/** Keys from a pool of `distinct`, spread over all 32 bits, the sentinels and their neighbours among them. */
function keysOf(distinct: number, seed: number): Uint32Array {
  const spread = Math.floor(2 ** 32 / distinct);
  return random(COUNT, distinct, seed).map((k) => (k < 4 ? 0xffffffff - k : k * spread));
}

async function both<T>(tables: readonly AnyTable[], run: (table: AnyTable) => Promise<T>): Promise<[T, T]> {
  return [await run(tables[0]), await run(tables[1])];
}

async function expectSameTables(tables: readonly AnyTable[]): Promise<void> {
  const [expected, actual] = tables.map((table) => checkTable(table));
  expect(actual.size).toBe(expected.size);
  for (const [key, value] of expected)
    if (actual.get(key) !== value) expect({ key, value: actual.get(key) }).toEqual({ key, value });
  const [keys] = await both(tables, async (table) =>
    asBits((await table.retrieveAll("host", {})).keys as Uint32Array).sort(),
  );
  expectSame(keys, asBits((await tables[1].retrieveAll("host", {})).keys as Uint32Array).sort());
}

async function expectSameInserts(
  tables: readonly AnyTable[],
  policy: InsertPolicy,
  distinct: number,
  seed: number,
): Promise<void> {
  const keys = keysOf(distinct, seed);
  const values = tables[0].spec.value === null ? null : random(COUNT, 2 ** 32, seed + 1);
  const where = seed % 2 ? random(COUNT, 3, seed + 2) : undefined;
  const mask = where && Uint8Array.from(where);
  const [expected, actual] = await both(tables, (table) =>
    table.insert(keys, values, policy, { where: mask }),
  );
  expect(actual).toEqual(expected);
}

async function expectSameLookups(tables: readonly AnyTable[], distinct: number, seed: number): Promise<void> {
  const keys = keysOf(distinct, seed);
  const mask = Uint8Array.from(random(COUNT, 2, seed + 1));
  for (const where of [undefined, mask]) {
    const [expected, actual] = await both(tables, (table) => table.find(keys, 99, "host", { where }));
    expectSame(actual.found as Uint8Array, expected.found as Uint8Array);
    expectSame(asBits(actual.values as Uint32Array), asBits(expected.values as Uint32Array));
    const [a, b] = await both(tables, (table) => table.contains(keys, "host", { where }));
    expectSame(b as Uint8Array, a as Uint8Array);
  }
}

async function expectSameInsertAndFind(
  tables: readonly AnyTable[],
  distinct: number,
  seed: number,
): Promise<void> {
  const keys = keysOf(distinct, seed);
  const values = tables[0].spec.value === null ? null : random(COUNT, 2 ** 32, seed + 1);
  const where = Uint8Array.from(random(COUNT, 4, seed + 2));
  const [expected, actual] = await both(tables, (table) =>
    table.insertAndFind(keys, values, "host", { where }),
  );
  expectSame(actual.insertedFlags as Uint8Array, expected.insertedFlags as Uint8Array);
  if (values) expectSame(asBits(actual.values as Uint32Array), asBits(expected.values as Uint32Array));
  expect(actual.inserted).toBe(expected.inserted);
}

async function expectSameErases(tables: readonly AnyTable[], distinct: number, seed: number): Promise<void> {
  const keys = keysOf(distinct, seed);
  const [expected, actual] = await both(tables, (table) => table.erase(keys, {}));
  expect(actual).toBe(expected);
}

describe("several threads give the results of one", () => {
  for (const hash of hashNames) {
    // a hash function says where keys are, no more
    for (const value of covering(["u32", null] as const, (value) => hash === "murmur3" || value !== null)) {
      // distinct keys, slots: sparse; nearly full; more keys than slots; few keys, each many times
      const sizes = [
        [12_000, 36_001],
        [12_000, 12_403],
        [120, 83],
        [50, 36_001],
      ] as const;
      for (const [distinct, slots] of covering(
        sizes,
        ([, slots]) => hash === "murmur3" || slots === 12_403,
      )) {
        it(`${hash}, values ${value}, ${distinct} keys in ${slots} slots`, async () => {
          const seed = hash === "xxhash32" ? 0x9abcdef0 : 0;
          const spec: TableSpec = { key: "u32", value, slots, hash, seed };
          const tables = [
            (await alone.createTable(spec)) as AnyTable,
            (await together.createTable(spec)) as AnyTable,
          ];
          // full tables probe all slots for every miss
          const rounds = slots < distinct ? 1 : 2;
          for (let round = 0; round < rounds; round++) {
            const seed = 10 * round + 1;
            await expectSameInserts(tables, "keep", distinct, seed);
            await expectSameInserts(tables, "assign", distinct, seed + 1);
            await expectSameErases(tables, distinct, seed + 2);
            await expectSameInserts(tables, "add", distinct, seed + 3);
            await expectSameInsertAndFind(tables, distinct, seed + 4);
            await expectSameLookups(tables, distinct, seed + 5);
            await expectSameTables(tables);
            await expectSameErases(tables, distinct, seed + 6);
          }
        });
      }
    }
  }

  it("float sums come out in input order", async () => {
    const spec: TableSpec = { key: "f32", value: "f32", slots: 500, hash: "murmur3" };
    const tables = [
      (await alone.createTable(spec)) as AnyTable,
      (await together.createTable(spec)) as AnyTable,
    ];
    const keys = Float32Array.from(random(COUNT, 200, 1));
    const values = Float32Array.from(random(COUNT, 2 ** 32, 2), (x) => (x - 2 ** 31) / 1000);
    const [expected, actual] = await both(tables, (table) => table.insert(keys, values, "add", {}));
    expect(actual).toEqual(expected);
    await expectSameTables(tables);
  });

  it("one chain over the ends of ranges and of the table is followed through", async () => {
    // identity hash: 600 keys with home in the last slots of a table of 50,000 fill its end and wrap to its
    // start
    const spec: TableSpec = { key: "u32", value: "u32", slots: 50_000, hash: "identity" };
    const tables = [
      (await alone.createTable(spec)) as AnyTable,
      (await together.createTable(spec)) as AnyTable,
    ];
    const keys = Uint32Array.from(random(COUNT, 600, 5), (k) => 0xffffff00 - k * 700);
    const values = random(COUNT, 2 ** 32, 6);
    for (const policy of ["keep", "xor", "max"] as const) {
      const [expected, actual] = await both(tables, (table) => table.insert(keys, values, policy, {}));
      expect(actual).toEqual(expected);
      const [a, b] = await both(tables, (table) => table.erase(keys.subarray(0, 500), {}));
      expect(b).toBe(a);
      await expectSameTables(tables);
    }
  });
});

it("a forced change of a nearly full table goes in few chunks, however few slots are free", async () => {
  const slots = COUNT + 1;
  const spec: TableSpec = { key: "u32", value: "u32", slots, hash: "identity" };
  const table = (await together.createTable(spec)) as AnyTable;
  const keys = Uint32Array.from({ length: COUNT }, (_, i) => Math.ceil((i * 2 ** 32) / slots));
  await table.insert(keys, keys, "keep", {});
  let chunks = 0;
  const call = { strategy: "partitioned", onProgress: () => void chunks++ } as const;
  expect(await table.insert(keys, keys, "keep", call)).toEqual({ inserted: 0, existing: COUNT, rejected: 0 });
  // slow chunks that are done alone end early
  expect(chunks).toBeLessThan(COUNT / 100);
});
