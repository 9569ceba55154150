// Grouping on the cpu engine against a Map: every kind of key column, nulls, forced hash collisions, on one thread and on
// two, with one table and with partitions.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import { groupRows } from "../../../../src/engine/cpu/groups/group-rows.js";
import { ROW_JOBS } from "../../../../src/engine/cpu/rows/row-threads.js";
import { murmur3 } from "../../../../src/engine/hash.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import { countWorkers, type WorkerCount } from "../../../helpers/count-workers.js";
import { covering, rounds } from "../../../helpers/rounds.js";
import { type ColumnKind, columnOf, type Model, modelOf, read, type Values } from "./columns.js";

const tiny = { chunk: 32, slice: 8, share: 8, sortAbove: 8 };
const ALL_BITS = 0xffffffff;

const engines = new Map<string, CpuEngine>();
const settings = [
  ["one thread", { threads: 1 }],
  ["one thread, partitions", { threads: 1, tuning: { rows: tiny } }],
  ["two threads, partitions", { threads: 2, tuning: { rows: tiny } }],
] as const;
let workers: WorkerCount;

beforeAll(async () => {
  for (const [name, options] of settings) {
    const engine = (await openCpuEngine(options)) as CpuEngine;
    engines.set(name, engine);
  }
  workers = await countWorkers(engineOf("two threads, partitions").host, ROW_JOBS);
});
afterAll(() => {
  workers.expectSome();
  for (const engine of engines.values()) engine.destroy();
});

function engineOf(name: string): CpuEngine {
  const engine = engines.get(name);
  if (engine === undefined) throw new Error(`no engine ${name}`);
  return engine;
}

interface Case {
  readonly kinds: readonly ColumnKind[];
  readonly columns: readonly Values[];
  readonly rows: number;
  readonly nullsEqual: boolean;
  readonly hashMask: number;
}

async function group(
  engine: CpuEngine,
  { kinds, columns, rows, nullsEqual, hashMask }: Case,
): Promise<Model> {
  const keys = { rows, columns: kinds.map((kind, i) => columnOf(kind, columns[i])) };
  return read(await groupRows(engine, keys, { nullsEqual }, hashMask));
}

const kind = fc.constantFrom<ColumnKind>(1, 2, 4, "strings", "codes");
/** Values of few kinds, so that rows repeat, or of many. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    kinds: fc.array(kind, { minLength: 1, maxLength: 3 }),
    rows: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 13, max: 150 })),
    values: fc.constantFrom(1, 2, 11, 1000),
    nulls: fc.boolean(),
    nullsEqual: fc.boolean(),
    hashMask: fc.constantFrom(ALL_BITS, ALL_BITS, 0xc0000001, 0),
  })
  .chain(({ kinds, rows, values, nulls, nullsEqual, hashMask }) => {
    const value = fc.nat({ max: values - 1 });
    const column = fc.array(nulls ? fc.option(value, { freq: 4 }) : value, {
      minLength: rows,
      maxLength: rows,
    });
    return fc
      .tuple(...kinds.map(() => column))
      .map((columns) => ({ kinds, columns, rows, nullsEqual, hashMask }));
  });

describe.each(settings.map(([name]) => name))("%s", (name) => {
  it("any rows are grouped as by a Map", async () => {
    const check = fc.asyncProperty(cases, async (rows) => {
      expect(await group(engineOf(name), rows)).toEqual(modelOf(rows.columns, rows.rows, rows.nullsEqual));
    });
    await fc.assert(check, { numRuns: rounds(200), seed: 1 });
  });

  const shapes: [string, (row: number) => number | null, number][] = [
    ["no rows", () => 0, 0],
    ["one row", () => 5, 1],
    ["one row, which is null", () => null, 1],
    ["rows that are all equal", () => 5, 100],
    ["rows that are all different", (row) => row, 100],
    ["rows that are all null", () => null, 100],
    ["a null in every third row", (row) => (row % 3 === 0 ? null : row % 7), 100],
  ];
  for (const [shape, value, rows] of shapes) {
    it.each([1, 2, 4, "strings", "codes"] as const)(`${shape}: %s`, async (kind) => {
      const columns = [Array.from({ length: rows }, (_, row) => value(row))];
      for (const nullsEqual of [true, false]) {
        const found = await group(engineOf(name), {
          kinds: [kind],
          columns,
          rows,
          nullsEqual,
          hashMask: ALL_BITS,
        });
        expect(found).toEqual(modelOf(columns, rows, nullsEqual));
      }
    });
  }

  const turn = settings.findIndex(([each]) => each === name);
  const large = covering([1, 2, "strings", "codes"] as const, (_, i) => (i + turn) % settings.length === 0);
  it.each(large)("50,000 rows: %s", async (kind) => {
    const rows = 50_000;
    const values = Array.from({ length: rows }, (_, row) => (row % 11 === 0 ? null : murmur3(row) % 5000));
    for (const nullsEqual of [true, false]) {
      const all = { kinds: [kind], columns: [values], rows, nullsEqual, hashMask: ALL_BITS };
      // compared as text: element by element takes seconds
      const text = (model: Model) => JSON.stringify(model);
      expect(text(await group(engineOf(name), all)) === text(modelOf([values], rows, nullsEqual))).toBe(true);
    }
  });
});

it("rows are not listed where nobody asks", async () => {
  const keys = {
    rows: 100,
    columns: [
      columnOf(
        1,
        Array.from({ length: 100 }, (_, row) => row % 7),
      ),
    ],
  };
  const found = await groupRows(engineOf("one thread"), keys, { nullsEqual: true, lists: false });
  const { groupOf, counts, members } = await read(found);
  expect(groupOf).toEqual(Array.from({ length: 100 }, (_, row) => row % 7));
  expect(counts).toEqual([15, 15, 14, 14, 14, 14, 14]);
  expect(members).toEqual([]);
});

it("memory that was used before does not show", async () => {
  const engine = engineOf("one thread");
  // 1 MiB a column: smaller memory is not used again
  const rows = 2 ** 18;
  const columns = [Array.from({ length: rows }, (_, row) => row)];
  for (let again = 0; again < 2; again++) {
    const found = await group(engine, { kinds: [1], columns, rows, nullsEqual: true, hashMask: ALL_BITS });
    expect(found.groupOf.every((number, row) => number === row)).toBe(true);
    expect(found.counts.every((count) => count === 1)).toBe(true);
  }
});

describe("the plan says", () => {
  async function planOf(name: string, kind: ColumnKind | readonly ColumnKind[], values: Values) {
    const log = new PlanLog();
    const rows = await engineOf(name).rows();
    log.begin();
    const keys = { rows: values.length, columns: [kind].flat().map((each) => columnOf(each, values)) };
    (await rows.group(keys, { nullsEqual: false, log })).destroy();
    const plan = log.finish();
    expect(plan.chunks).toBe(1);
    expect(plan.milliseconds).toBeGreaterThanOrEqual(
      plan.phases.reduce((sum, each) => sum + each.milliseconds, 0),
    );
    return { ...plan, phases: plan.phases.map(({ name }) => name) };
  }
  const values = Array.from({ length: 1000 }, (_, row) => row);
  const [find, rest] = ["find equal rows", ["number groups", "list members"]];

  it("direct for keys that index an array", async () => {
    const plan = await planOf("two threads, partitions", 1, values);
    expect(plan).toMatchObject({ strategy: "direct", partitions: 1, reason: "the keys lie close together" });
    expect(plan.phases).toEqual([find, ...rest]);
  });
  it("direct for several columns whose values are few", async () => {
    const few = values.map((row) => (row % 5 === 0 ? null : row % 7));
    const plan = await planOf("two threads, partitions", ["codes", 1, "codes"], few);
    expect(plan).toMatchObject({ strategy: "direct", partitions: 1, reason: "the keys lie close together" });
    const many = await planOf("two threads, partitions", ["codes", 1], values);
    expect(many).toMatchObject({ strategy: "partitioned" });
  });
  it("direct for rows whose table fits the cache", async () => {
    const plan = await planOf("one thread", 2, values);
    expect(plan).toMatchObject({ strategy: "direct", partitions: 1 });
    expect(plan.reason).toContain("fits the cache");
    expect(plan.phases).toEqual([find, ...rest]);
  });
  it("partitioned for others", async () => {
    const plan = await planOf("two threads, partitions", 2, values);
    expect(plan).toMatchObject({ strategy: "partitioned", partitions: 2 });
    expect(plan.phases).toEqual(["sort by partition", find, ...rest]);
  });
});
