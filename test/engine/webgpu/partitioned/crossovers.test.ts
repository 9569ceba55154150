/** Which strategy batches take as a table fills and they grow: the crossovers that were measured. */
import { expect, it } from "vitest";
import type { TableSpec } from "../../../../src/engine/layout.js";
import { planBulk } from "../../../../src/engine/webgpu/partitioned/crossovers.js";
import type { TableState } from "../../../../src/engine/webgpu/table/table-state.js";

const spec: TableSpec = { key: "u32", value: "u32", slots: 2 ** 27, hash: "murmur3" };
const tableAt = (load: number, state: Partial<TableState> = {}) =>
  ({
    spec,
    live: spec.slots * load,
    tombstones: 0,
    homeSorted: true,
    avoidsPages: false,
    ...state,
  }) as TableState;
const wayOf = (table: TableState, count: number, strategy?: "partitioned") =>
  planBulk("find", table, count, { strategy }).strategy;

/** 2^20 elements. */
const M = 2 ** 20;
/** Elements of which each has so many bytes of a table of 2^27 slots. */
const withBytes = (bytes: number) => Math.ceil((2 ** 30 + 16) / bytes);

it.each([
  [0.5, 24 * M - 1, "direct"],
  [0.5, 24 * M, "partitions"],
  [0.5, 128 * M, "partitions"],
  [0.84, 24 * M - 1, "direct"],
  [0.84, 24 * M, "partitions"],
  [0.84, withBytes(12) - 1, "partitions"],
  [0.84, withBytes(12), "pages"],
  [0.88, 20 * M - 1, "direct"],
  [0.88, 20 * M, "partitions"],
  [0.88, withBytes(24) - 1, "partitions"],
  [0.88, withBytes(24), "pages"],
  [0.93, 17 * M - 1, "direct"],
  [0.93, 17 * M, "partitions"],
  [0.93, withBytes(34) - 1, "partitions"],
  [0.93, withBytes(34), "pages"],
  [0.95, 14 * M - 1, "direct"],
  [0.95, 14 * M, "partitions"],
  [0.95, withBytes(48) - 1, "partitions"],
  [0.95, withBytes(48), "pages"],
  [1, 11 * M - 1, "direct"],
  [1, 11 * M, "partitions"],
  [1, withBytes(70) - 1, "partitions"],
  [1, withBytes(70), "pages"],
])("at load %d %d lookups go %s", (load, count, strategy) => {
  expect(wayOf(tableAt(load), count)).toBe(strategy);
});

it.each([
  [0.5, 2 ** 23, "direct"],
  [0.5, 2 ** 24, "partitions"],
  [0.5, 2 ** 26, "pages"],
  [0.95, 2 ** 21, "direct"],
  [0.95, 2 ** 23, "partitions"],
  [0.95, 2 ** 25, "pages"],
])("at load %d %d keys are erased %s", (load, count, strategy) => {
  expect(planBulk("erase", tableAt(load), count, {}).strategy).toBe(strategy);
});

it("lookups go by partitions where entries are in no order, or pages have shown to be no good", () => {
  expect(wayOf(tableAt(0.95, { homeSorted: false }), 2 ** 27)).toBe("partitions");
  expect(wayOf(tableAt(0.95, { avoidsPages: true }), 2 ** 27)).toBe("partitions");
});

it("erased entries make probes as long as others", () => {
  expect(wayOf({ ...tableAt(0.5), tombstones: spec.slots * 0.45 } as TableState, 2 ** 25)).toBe("pages");
});

it.each([
  ["keep", 2 ** 27, "pages"],
  ["keep", 2 ** 26, "partitions"],
  ["keep", 2 ** 25, "direct"],
  ["insertAndFind", 2 ** 27, "partitions"],
  ["erase", 2 ** 28, "pages"],
  ["erase", 2 ** 26, "partitions"],
  ["erase", 2 ** 24, "direct"],
  ["insertAndFind", 2 ** 26, "partitions"],
] as const)("%s of %d keys, in 2^29 slots, goes %s", (operation, count, strategy) => {
  const table = { spec: { ...spec, slots: 2 ** 29 }, live: 2 ** 27 };
  expect(planBulk(operation, tableAt(0.25, table), count, {}).strategy).toBe(strategy);
});

it("changes go directly where the table is so large that few keys share what is read", () => {
  const large = { spec: { ...spec, slots: 2 ** 31 }, live: 2 ** 30 };
  for (const operation of ["keep", "insertAndFind", "erase"] as const) {
    const { strategy, reason } = planBulk(operation, tableAt(0.5, large), 2 ** 26, {});
    expect([strategy, reason]).toEqual(["direct", "the batch is small beside the table"]);
  }
  expect(wayOf(tableAt(0.5, large), 2 ** 26)).toBe("partitions");
});

it("lookups that are to be partitioned are, however few", () => {
  expect(wayOf(tableAt(0.95), 10, "partitioned")).toBe("partitions");
  expect(wayOf(tableAt(0.95), 2 ** 25, "partitioned")).toBe("pages");
});

it.each([
  ["keep", 0, 2 ** 25, "pages"],
  ["keep", 0, 2 ** 22, "direct"],
  ["keep", 0.5, 2 ** 24, "pages"],
  ["keep", 0.5, 2 ** 23, "direct"],
  ["add", 0, 2 ** 25, "partitions"],
  ["add", 0, 2 ** 23, "direct"],
  ["find", 0.5, 2 ** 26, "partitions"],
  ["find", 0.95, 2 ** 25, "pages"],
  ["find", 0.5, 2 ** 24, "direct"],
  ["find", 0.95, 2 ** 23, "partitions"],
  ["erase", 0.5, 2 ** 26, "pages"],
] as const)("wide slots, %s at load %d: %d elements go %s", (operation, load, count, strategy) => {
  const wide: TableSpec = { key: "u64", value: "u64", slots: 2 ** 27, hash: "murmur3" };
  const table = { ...tableAt(load), spec: wide } as TableState;
  expect(planBulk(operation, table, count, {}).strategy).toBe(strategy);
});

it("pages of small tables of wide slots are built, too", () => {
  const wide: TableSpec = { key: "u64", value: "u64", slots: 2 ** 22, hash: "murmur3" };
  const plan = (spec: TableSpec) => planBulk("keep", { ...tableAt(0), spec } as TableState, 2 ** 21, {});
  expect(plan(wide).strategy).toBe("pages");
  expect(plan({ ...wide, key: "u32", value: "u32" }).strategy).toBe("direct");
});
