// Grouping on the webgpu engine against a Map: every kind of key column, nulls, forced hash collisions, injected failures of
// compare-exchange; and what stops a grouping.
import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { PlanLog } from "../../../../src/engine/plan.js";
import { NO_GROUP, type RowGroups } from "../../../../src/engine/row-groups.js";
import { Pacer } from "../../../../src/engine/webgpu/device/pacer.js";
import type { KernelOverrides } from "../../../../src/engine/webgpu/direct/direct-kernels.js";
import { groupRows } from "../../../../src/engine/webgpu/groups/group-rows.js";
import { RowRun, rowHost } from "../../../../src/engine/webgpu/groups/row-run.js";
import type { WebgpuEngine } from "../../../../src/engine/webgpu/webgpu-engine.js";
import { EngineError, LimitError } from "../../../../src/errors.js";
import { rejection } from "../../../conformance/helpers/checks.js";
import {
  type ColumnKind,
  columnOf,
  type Model,
  modelOf,
  read,
  type Values,
} from "../../cpu/groups/columns.js";
import { withMembers } from "../helpers/own-gpu.js";
import { openVariant } from "../helpers/variants.js";
import { Scarcity } from "../helpers/watched-gpu.js";
import { weakRowCas } from "../helpers/weak-cas.js";

const variants = {
  "as it is": {},
  "hashes of one bit": { rowHashMask: 0x1 },
  "a third of compare-exchanges fails": { cas: weakRowCas(33) },
  "most compare-exchanges fail": { cas: weakRowCas(99) },
} satisfies Record<string, KernelOverrides>;
type Variant = keyof typeof variants;
const engines = new Map<string, WebgpuEngine>();
const scarcity = new Scarcity();

beforeAll(async () => {
  for (const [name, kernelOverrides] of Object.entries(variants)) {
    engines.set(name, await openVariant({ kernelOverrides }));
  }
  engines.set("little memory", await openVariant({}, (gpuDevice) => scarcity.on(gpuDevice)));
});
afterEach(() => {
  vi.restoreAllMocks();
  scarcity.after(Number.POSITIVE_INFINITY);
});

function engineOf(name: Variant | "little memory"): WebgpuEngine {
  return engines.get(name) as WebgpuEngine;
}

interface Case {
  readonly kinds: readonly ColumnKind[];
  readonly columns: readonly Values[];
  readonly rows: number;
  readonly nullsEqual: boolean;
}

const keysOf = ({ kinds, columns, rows }: Omit<Case, "nullsEqual">) => ({
  rows,
  columns: kinds.map((kind, i) => columnOf(kind, columns[i])),
});

/** Groups rows, and compares with a Map. */
async function check(engine: WebgpuEngine, rows: Case): Promise<void> {
  const found = await groupRows(rowHost(engine), keysOf(rows), rows);
  expect([found.rows, found.groups]).toEqual([rows.rows, found.counts.length]);
  const model = modelOf(rows.columns, rows.rows, rows.nullsEqual);
  // compared as text: element by element takes seconds
  expect(JSON.stringify(await inOrder(found)) === JSON.stringify(model)).toBe(true);
}

/** What was found, with groups numbered in the order of their first rows, and members ascending; frees it. */
async function inOrder(found: RowGroups): Promise<Model> {
  const { groupOf, counts, offsets, members } = await read(found);
  const order = [...new Set(groupOf.filter((group) => group !== NO_GROUP))];
  const numbers = new Map(order.map((group, number) => [group, number]));
  expect(order.every((group) => group < counts.length)).toBe(true);
  const listed = order.map((group) =>
    members.slice(offsets[group], offsets[group + 1]).sort((a, b) => a - b),
  );
  const reordered = [0];
  for (const each of listed) reordered.push(reordered[reordered.length - 1] + each.length);
  expect([offsets.length, offsets[0], offsets.at(-1)]).toEqual([counts.length + 1, 0, members.length]);
  return {
    groupOf: groupOf.map((group) => numbers.get(group) ?? NO_GROUP),
    counts: order.map((group) => counts[group]),
    offsets: reordered,
    members: listed.flat(),
  };
}

const oneColumn = (kind: ColumnKind, values: Values, nullsEqual = false): Case => ({
  kinds: [kind],
  columns: [values],
  rows: values.length,
  nullsEqual,
});
const valuesOf = (rows: number, value: (row: number) => number | null): Values =>
  Array.from({ length: rows }, (_, row) => value(row));

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
    await fc.assert(property, { numRuns: name === "as it is" ? 60 : 20, seed: 1 });
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
      (await groupRows(rowHost(engineOf(name)), keysOf(all), { nullsEqual: false, onProgress })).destroy();
      expect(seen.length).toBeGreaterThanOrEqual(5 * 5);
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
      expect(seen.at(-1)).toBe(rows);
    }
  });

  it("no rows are done at once", async () => {
    const seen: number[][] = [];
    const onProgress = (...progress: number[]) => seen.push(progress);
    const call = { nullsEqual: false, onProgress };
    (await groupRows(rowHost(engineOf("as it is")), { rows: 0, columns: [] }, call)).destroy();
    expect(seen).toEqual([[0, 0]]);
  });
});

/** Buffers in use after every pool gave up what it keeps. */
async function liveBuffers(): Promise<number> {
  const engine = engineOf("little memory");
  scarcity.after(0);
  await rejection(engine.allocate("u32", 12_345), LimitError);
  scarcity.after(Number.POSITIVE_INFINITY);
  return scarcity.live;
}

describe("a grouping that ends early gives its memory back", () => {
  const rows = 3000;
  const keys = keysOf({
    kinds: [1, "strings"],
    columns: [valuesOf(rows, (row) => row % 100), valuesOf(rows, (row) => (row % 5 === 0 ? null : row % 7))],
    rows,
  });
  const host = () => rowHost(engineOf("little memory"));
  /** What it keeps for good, and kernels, are there. */
  const liveAtFirst = async () => {
    (await groupRows(host(), keys, { nullsEqual: true, log: new PlanLog() })).destroy();
    return liveBuffers();
  };

  it("after any allocation", async () => {
    const live = await liveAtFirst();
    let most = 0;
    for (; ; most++) {
      await liveBuffers();
      scarcity.after(most);
      const call = { nullsEqual: true, log: new PlanLog() };
      const result = await groupRows(host(), keys, call).catch((error: unknown) => error);
      const { tried } = scarcity;
      if (!(result instanceof Error)) (result as RowGroups).destroy();
      else expect(result).toBeInstanceOf(LimitError);
      expect(await liveBuffers()).toBe(live);
      if (tried <= most) break;
      expect(result).toBeInstanceOf(LimitError);
    }
    expect(most).toBeGreaterThan(8);
  });

  it("when aborted before any chunk", async () => {
    vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
    const live = await liveAtFirst();
    const reason = new Error("enough");
    const aborted = { nullsEqual: true, signal: AbortSignal.abort(reason) };
    await expect(groupRows(host(), keys, aborted)).rejects.toBe(reason);
    // two columns and three steps of three chunks each
    for (let chunk = 1; chunk < 15; chunk++) {
      const abort = new AbortController();
      let chunks = 0;
      const onProgress = () => ++chunks === chunk && abort.abort(reason);
      const call = groupRows(host(), keys, { nullsEqual: true, signal: abort.signal, onProgress });
      await expect(call).rejects.toBe(reason);
      expect(chunks).toBe(chunk);
    }
    expect(await liveBuffers()).toBe(live);
  });

  it("when a submission fails", async () => {
    const live = await liveAtFirst();
    const { submitAndWait } = RowRun.prototype;
    for (let failing = 1; failing <= 5; failing++) {
      let submissions = 0;
      vi.spyOn(RowRun.prototype, "submitAndWait").mockImplementation(function (this: RowRun, ...submission) {
        if (++submissions === failing) throw new Error("injected");
        return submitAndWait.apply(this, submission);
      });
      await expect(groupRows(host(), keys, { nullsEqual: true })).rejects.toThrow("injected");
      vi.restoreAllMocks();
    }
    expect(await liveBuffers()).toBe(live);
  });
});

it("rows that spurious failures leave over are tried again", async () => {
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

it("compare-exchange that always fails ends with an error", async () => {
  const engine = await openVariant({ kernelOverrides: { cas: weakRowCas(100) } });
  const rows = oneColumn(1, [1, 2, 3]);
  await expect(groupRows(rowHost(engine), keysOf(rows), rows)).rejects.toThrow(EngineError);
  await check(engine, oneColumn(1, [null, null]));
});

it("keys that do not fit a binding are refused before anything is done", async () => {
  const small = (gpuDevice: GPUDevice) => {
    const limits = new Proxy(gpuDevice.limits, {
      get: (target, name) =>
        name === "maxStorageBufferBindingSize" ? 64_000 : target[name as keyof GPUSupportedLimits],
    });
    return withMembers(gpuDevice, { limits });
  };
  const engine = await openVariant({}, small);
  const { scratch, arrays } = engine.gpu;
  const allocations = [vi.spyOn(scratch, "acquire"), vi.spyOn(arrays, "acquire")];
  // records of 8 bytes, and of 20
  await check(
    engine,
    oneColumn(
      1,
      valuesOf(8000, (row) => row % 10),
    ),
  );
  await check(
    engine,
    oneColumn(
      4,
      valuesOf(3200, (row) => row % 10),
    ),
  );
  for (const acquire of allocations) acquire.mockClear();
  for (const rows of [
    oneColumn(
      1,
      valuesOf(8001, (row) => row % 10),
    ),
    oneColumn(
      4,
      valuesOf(3201, (row) => row % 10),
    ),
    oneColumn(
      "strings",
      valuesOf(1000, () => 10),
    ),
  ]) {
    const error = await rejection(groupRows(rowHost(engine), keysOf(rows), rows), LimitError);
    expect(error.limit).toBe("maxStorageBufferBindingSize");
  }
  for (const acquire of allocations) expect(acquire).not.toHaveBeenCalled();
});

it("the plan says in how many chunks, why, and how long each kernel took", async () => {
  vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
  const engine = engineOf("as it is");
  const columns = [valuesOf(3000, (row) => row), valuesOf(3000, (row) => row)];
  const log = new PlanLog();
  log.begin();
  const keys = keysOf({ kinds: [1, "strings"], columns, rows: 3000 });
  (await groupRows(rowHost(engine), keys, { nullsEqual: false, log })).destroy();
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
