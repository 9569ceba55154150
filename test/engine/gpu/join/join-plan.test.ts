// What a join on the webgpu engine says of itself: its plan, its progress, and how often it goes to the GPU.
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { matchRows } from "../../../../src/engine/gpu/join/match-rows.js";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import type { JoinCall } from "../../../../src/engine/row-operations.js";
import type { RowKeys } from "../../../../src/engine/rows.js";
import type { WebgpuEngine } from "../../../../src/engine/webgpu/webgpu-engine.js";
import { openVariant } from "../../webgpu/helpers/variants.js";
import { Watch } from "../../webgpu/helpers/watched-gpu.js";
import { keysOf, oneColumn, valuesOf } from "../groups/cases.js";

const watch = new Watch();
let engine: WebgpuEngine;
beforeAll(async () => {
  engine = await openVariant({}, (gpuDevice) => watch.on(gpuDevice));
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Rows with one key each, null where `key` says so. */
const side = (rows: number, key: (row: number) => number | null) => keysOf(oneColumn(1, valuesOf(rows, key)));

const probeSide = side(2000, (row) => row % 1500);

function pairsOf(build: RowKeys, call: Omit<JoinCall, "nullsEqual"> = {}) {
  const host = engine.tableHost;
  return matchRows(host, probeSide, build, "inner", { ...call, nullsEqual: false, output: "host" });
}

const GROUPED = ["probe", "match counts", "scan", "list members", "expand"];
/** Build sides, the phases that their join has, and its submissions. */
const sides = [
  {
    name: "different keys",
    build: side(1000, (row) => row),
    pairs: 1500,
    reason: "one partner at most",
    phases: ["pack words", "fill", "number rows", "partners", "select rows"],
    submissions: ["pack rows", "pack rows", "select rows", "copy", "copy", "read", "read"],
  },
  {
    name: "different keys and nulls",
    build: side(1000, (row) => (row % 2 === 0 ? row : null)),
    pairs: 750,
    reason: "one partner at most",
    phases: ["pack words", "fill", "number rows", "partners", "select rows"],
    submissions: ["pack rows", "pack rows", "select rows", "copy", "copy", "read", "read"],
  },
  {
    name: "keys that repeat",
    build: side(1000, (row) => row >> 1),
    pairs: 2000,
    reason: "build rows repeat",
    phases: ["pack words", "fill", "number rows", "partners", "select rows"].concat(GROUPED),
    submissions: [
      "pack rows",
      "pack rows",
      "select rows",
      "copy",
      "copy",
      "join probe",
      "scan",
      "scan",
      "list members",
      "pairs",
    ],
  },
];

it.each(sides)("$name: the plan says why, and how long each kernel took", async (side) => {
  const log = new PlanLog();
  log.begin();
  const pairs = await pairsOf(side.build, { log });
  expect(pairs.left).toHaveLength(side.pairs);
  const plan = log.finish();
  expect(plan).toMatchObject({ strategy: "direct", groupSize: 1, partitions: 1, pages: 0, clock: "gpu" });
  expect(plan.strategies.map(({ reason }) => reason)).toEqual([
    expect.stringContaining("numbered in one table"),
    expect.stringContaining(side.reason),
  ]);
  expect(plan.phases.map(({ name }) => name)).toEqual(side.phases);
});

it.each(sides)("$name: no submission more than its steps", async (side) => {
  watch.submitted.length = 0;
  await pairsOf(side.build);
  expect(watch.submitted).toEqual(side.submissions);
});

it("progress grows chunk by chunk to the rows of both sides", async () => {
  vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
  for (const { build } of sides) {
    const seen: number[] = [];
    const onProgress = (done: number, total: number) => {
      expect(total).toBe(3000);
      seen.push(done);
    };
    await pairsOf(build, { onProgress });
    // packing 1,000 rows is one chunk, which nobody waits for; packing 2,000, numbering 1,000 and probing 2,000
    expect(seen.slice(0, 4)).toEqual([1012, 1500, 2512, 3000]);
    expect(new Set(seen.slice(3))).toEqual(new Set([3000]));
  }
});
