// Reducing columns by group on the webgpu engine against a loop over the rows: every type of numbers, nulls, one group, as many
// groups as rows, more than the cache of a workgroup has slots, one large group among many; chunks, small bindings, injected failures.
import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { RowRun } from "../../../../src/engine/gpu/groups/row-run.js";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import { LimitError, openDevice, type Plan } from "../../../../src/index.js";
import { groupBy, sum } from "../../../../src/relational/index.js";
import { rounds } from "../../../helpers/rounds.js";
import { withSmallBindings } from "../../webgpu/helpers/own-gpu.js";
import { type GpuEngine, onWebgpu, openGpu } from "../helpers/open-gpu.js";
import { bitsOf, check, type NumberKind, numberKinds, type TestColumn } from "./cases.js";

let engine: GpuEngine;
beforeAll(async () => {
  engine = await openGpu({});
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A column of any values; every n-th is null. */
function columnOf(kind: NumberKind, rows: number, seed: number, nullEvery: number): TestColumn {
  const values = Array.from({ length: rows }, (_, row) =>
    nullEvery > 0 && (row + seed) % nullEvery === 0
      ? null
      : bitsOf(kind, Math.imul(row + seed, 0x2545f491) >>> 0),
  );
  return { ...kind, values };
}

/** Groups of rows without a pattern. */
const groupsOf = (rows: number, group: (random: number, row: number) => number) =>
  Array.from({ length: rows }, (_, row) => group(Math.imul(row + 1, 0x9e3779b1) >>> 7, row));

const shapes: [string, number[]][] = [
  ["no rows", []],
  ["one row", [7]],
  ["one group", groupsOf(5000, () => 3)],
  ["eight groups", groupsOf(5000, (random) => random % 8)],
  ["more groups than the cache has slots", groupsOf(5000, (random) => random % 700)],
  ["as many groups as rows", groupsOf(4200, (_, row) => row)],
  ["one group with half of the rows", groupsOf(5000, (random) => (random % 2 ? 0 : random % 2000))],
];

it.each(shapes)("%s", async (name, groupOf) => {
  // each kind in every other shape
  const shape = shapes.findIndex((each) => each[0] === name);
  const kinds = numberKinds.filter((_, k) => (k >> 1) % 2 === shape % 2);
  const columns = kinds.map((kind, k) => columnOf(kind, groupOf.length, k, [0, 5, 1][k % 3]));
  // by their numbers and by their keys
  const numbered = shape % 4 < 2;
  expect(await check(engine, groupOf, columns, { numbered })).toBe(new Set(groupOf).size);
});

it("any columns", async () => {
  const aCase = fc.record({
    rows: fc.nat(300),
    groups: fc.constantFrom(1, 2, 40, 1000),
    kinds: fc.array(fc.constantFrom(...numberKinds), { maxLength: 3 }),
    seed: fc.nat(1e6),
    nullEvery: fc.constantFrom(0, 1, 2, 7),
    numbered: fc.boolean(),
  });
  const property = fc.asyncProperty(aCase, async ({ rows, groups, kinds, seed, nullEvery, numbered }) => {
    const columns = kinds.map((kind, k) => columnOf(kind, rows, seed + k, nullEvery));
    await check(
      engine,
      groupsOf(rows, (random) => (random + seed) % groups),
      columns,
      { numbered },
    );
  });
  await fc.assert(property, { numRuns: rounds(15), seed: 1 });
});

it("means are divided as doubles are", async () => {
  // groups of one to nine values of any size: quotients of every number of bits
  const kind = { bits: 64, form: "signed" } as const;
  const groupOf = groupsOf(6000, (random) => random % 1200);
  const values = groupOf.map((_, row) =>
    BigInt.asUintN(64, BigInt.asIntN(64, bitsOf(kind, row)) >> BigInt(row % 64)),
  );
  await check(engine, groupOf, [
    { ...kind, values },
    { bits: 64, form: "unsigned", values },
  ]);
});

describe("limits", () => {
  const groupOf = groupsOf(6000, (random) => random % 700);
  const columns = [
    columnOf({ bits: 64, form: "signed" }, 6000, 1, 5),
    columnOf({ bits: 8, form: "unsigned" }, 6000, 2, 0),
  ];

  it("chunks of 1,024 rows", async () => {
    vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
    // steps that are short enough to be one go chunk by chunk as well
    vi.spyOn(RowRun.prototype, "dispatch").mockImplementation(function (
      this: RowRun,
      ...[step, count, record]
    ) {
      return this.eachChunk(step, count, record, { isPass: false });
    });
    const log = new PlanLog();
    const seen: number[] = [];
    log.begin();
    await check(engine, groupOf, columns, { log, onProgress: (done) => seen.push(done) });
    expect(seen.at(-1)).toBe(6000);
    expect(log.finish().chunks).toBeGreaterThan(1);
  });

  it.runIf(onWebgpu)("bindings as long as the rows take, and no shorter", async () => {
    // one slot in the table of few groups is too few: rows are numbered by their records
    const options = { tuning: { fewGroupSlots: 4 } };
    const limited = (bytes: number) => openGpu(options, (device) => withSmallBindings(device, bytes));
    await check(await limited(6000 * 8), groupOf, columns);
    await expect(check(await limited(6000 * 8 - 4), groupOf, columns)).rejects.toBeInstanceOf(LimitError);
  });

  it.runIf(onWebgpu)("leaves to the host what the device cannot bind, and says so", async () => {
    const device = await openDevice({
      gpuDevice: withSmallBindings(engine.interop?.buffers?.device as GPUDevice, 20_000),
    });
    const k = Int32Array.from({ length: 2000 }, (_, row) => row);
    let plan: Plan | undefined;
    const onPlan = (told: Plan) => {
      plan = told;
    };
    const made = await groupBy({ k, v: k }, { by: ["k"], aggregate: { total: sum("v") }, device, onPlan });
    expect(made.getChildAt(1).toArray()).toEqual(BigInt64Array.from(k, BigInt));
    expect(plan?.reason).toMatch(
      /aggregated on the host: Limit maxStorageBufferBindingSize: this needs 49168/,
    );
    device.destroy();
  });

  it("stops when it is told to", async () => {
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error("enough"));
    await expect(check(engine, groupOf, columns, { signal: stop.signal, onProgress })).rejects.toThrow(
      "enough",
    );
  });
});
