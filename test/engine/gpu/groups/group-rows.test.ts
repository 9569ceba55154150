// Grouping on the webgpu engine against a Map: every kind of key column, nulls, forced hash collisions, injected failures of
// compare-exchange; its chunks, progress and plan.
import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { groupRows } from "../../../../src/engine/gpu/groups/group-rows.js";
import { RowRun } from "../../../../src/engine/gpu/groups/row-run.js";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import type { Tuning } from "../../../../src/engine/gpu/tuning.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import { EngineError } from "../../../../src/errors.js";
import { rounds } from "../../../helpers/rounds.js";
import type { ColumnKind, Values } from "../../cpu/groups/columns.js";
import { weakRowCas } from "../../webgpu/helpers/weak-cas.js";
import { type GpuEngine, onWebgpu, openGpu } from "../helpers/open-gpu.js";
import { type Case, check, keysOf, oneColumn, valuesOf } from "./cases.js";

const variants = {
  "as it is": {},
  "hashes of one bit": { rowHashMask: 0x1 },
  "a third of compare-exchanges fails": { cas: weakRowCas(33) },
  "most compare-exchanges fail": { cas: weakRowCas(99) },
} satisfies Record<string, Tuning>;
type Variant = keyof typeof variants;
const engines = new Map<string, GpuEngine>();

beforeAll(async () => {
  for (const [name, tuning] of Object.entries(variants)) {
    engines.set(name, await openGpu({ tuning }));
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});

function engineOf(name: Variant): GpuEngine {
  return engines.get(name) as GpuEngine;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    kinds: fc.array(fc.constantFrom<ColumnKind>(1, 2, 4, "strings", "codes"), { minLength: 1, maxLength: 3 }),
    rows: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 13, max: 300 })),
    values: fc.constantFrom(1, 2, 11, 1000),
    nulls: fc.boolean(),
    nullsEqual: fc.boolean(),
  })
  .chain(({ kinds, rows, values, nulls, nullsEqual }) => {
    const value = fc.nat({ max: values - 1 });
    const column = fc.array(nulls ? fc.option(value, { freq: 4 }) : value, {
      minLength: rows,
      maxLength: rows,
    });
    return fc.tuple(...kinds.map(() => column)).map((columns) => ({ kinds, columns, rows, nullsEqual }));
  });

describe.each(Object.keys(variants) as Variant[])("%s", (name) => {
  it("any rows are grouped as by a Map", async () => {
    const property = fc.asyncProperty(cases, (rows) => check(engineOf(name), rows));
    await fc.assert(property, { numRuns: rounds(name === "as it is" ? 60 : 20), seed: 1 });
  });

  const shapes: [string, Values][] = [
    ["no rows", []],
    ["one row", [5]],
    ["one row, which is null", [null]],
    ["all equal", valuesOf(257, () => 5)],
    ["all different", valuesOf(257, (row) => row)],
    ["all null", valuesOf(257, () => null)],
    ["a null in every third row", valuesOf(257, (row) => (row % 3 === 0 ? null : row % 7))],
    ["each twice", valuesOf(512, (row) => row >> 1)],
  ];
  it.each(shapes)("%s", async (_, values) => {
    for (const kind of [1, 2, 4, "strings"] as const) {
      for (const nullsEqual of [true, false]) {
        await check(engineOf(name), oneColumn(kind, values, nullsEqual));
      }
    }
  });
});

it("33 columns, with a null in the last one only", async () => {
  const kinds = Array.from({ length: 33 }, () => 1 as const);
  const columns = kinds.map((_, column) => valuesOf(80, (row) => (column < 32 ? 1 : row % 3 || null)));
  for (const nullsEqual of [true, false])
    await check(engineOf("as it is"), { kinds, columns, rows: 80, nullsEqual });
});

describe("in chunks", () => {
  const rows = 5000;
  const values = valuesOf(rows, (row) => (row % 11 === 0 ? null : Math.imul(row, 0x9e3779b1) >>> 21));
  const all = { kinds: [2, "strings"], columns: [values, values], rows, nullsEqual: false } as const;

  it("of 1,024 rows, more groups than a tile of the scan", async () => {
    vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
    for (const name of ["as it is", "most compare-exchanges fail"] as const) await check(engineOf(name), all);
    await check(
      engineOf("as it is"),
      oneColumn(
        1,
        valuesOf(rows, (row) => row),
      ),
    );
  });

  it("progress grows to all rows", async () => {
    vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
    for (const name of ["as it is", "most compare-exchanges fail"] as const) {
      const seen: number[] = [];
      const onProgress = (done: number, total: number) => {
        expect(total).toBe(rows);
        seen.push(done);
      };
      (await groupRows(engineOf(name).tableHost, keysOf(all), { nullsEqual: false, onProgress })).destroy();
      expect(seen.length).toBeGreaterThanOrEqual(5 * 5);
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
      expect(seen.at(-1)).toBe(rows);
    }
  });

  it("no rows are done at once", async () => {
    const seen: number[][] = [];
    const onProgress = (...progress: number[]) => seen.push(progress);
    const call = { nullsEqual: false, onProgress };
    (await groupRows(engineOf("as it is").tableHost, { rows: 0, columns: [] }, call)).destroy();
    expect(seen).toEqual([[0, 0]]);
  });
});

it.runIf(onWebgpu)("rows that spurious failures leave over are tried again", async () => {
  const eachChunk = vi.spyOn(RowRun.prototype, "eachChunk");
  await check(
    engineOf("most compare-exchanges fail"),
    oneColumn(
      1,
      valuesOf(1000, (row) => row),
    ),
  );
  expect(eachChunk.mock.calls.filter(([operation]) => operation === "number rows").length).toBeGreaterThan(1);
});

it.runIf(onWebgpu)("compare-exchange that always fails ends with an error", async () => {
  const engine = await openGpu({ tuning: { cas: weakRowCas(100) } });
  const rows = oneColumn(1, [1, 2, 3]);
  await expect(groupRows(engine.tableHost, keysOf(rows), rows)).rejects.toThrow(EngineError);
  await check(engine, oneColumn(1, [null, null]));
});

it("the plan says in how many chunks, why, and how long each kernel took", async () => {
  vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
  const engine = engineOf("as it is");
  const columns = [valuesOf(3000, (row) => row), valuesOf(3000, (row) => row)];
  const log = new PlanLog();
  log.begin();
  const keys = keysOf({ kinds: [1, "strings"], columns, rows: 3000 });
  (await groupRows(engine.tableHost, keys, { nullsEqual: false, log })).destroy();
  const plan = log.finish();
  expect(plan).toMatchObject({ strategy: "direct", groupSize: 1, partitions: 1, pages: 0, chunks: 3 });
  expect(plan.strategies).toHaveLength(1);
  expect(plan.reason).toContain("numbered in one table");
  expect(plan.clock).toBe("gpu");
  const phases = [
    "pack words",
    "pack bytes",
    "fill",
    "number rows",
    "number groups",
    "scan",
    "scan add",
    "list members",
  ];
  expect(plan.phases.map(({ name }) => name)).toEqual(phases);
  expect(plan.phases.every(({ milliseconds }) => milliseconds >= 0)).toBe(true);
});
