/** Which strategy batches take as a table fills and they grow: the crossovers that were measured. */
import { expect, it } from "vitest";
import type { TableSpec } from "../../../../src/engine/layout.js";
import { planBulk } from "../../../../src/engine/webgpu/partitioned/partition-planner.js";
import type { TableState } from "../../../../src/engine/webgpu/table/table-state.js";

const spec: TableSpec = { key: "u32", value: "u32", slots: 2 ** 27, hash: "murmur3" };
const tableAt = (load: number, state: Partial<TableState> = {}) =>
  ({
    spec,
    live: spec.slots * load,
    tombstones: 0,
    ordered: true,
    spoiled: new Set(),
    ...state,
  }) as TableState;
const wayOf = (table: TableState, count: number, strategy?: "partitioned") =>
  planBulk("find", table, count, { strategy }).way;

/** 2^20 elements. */
const M = 2 ** 20;
/** Elements of which each has so many bytes of a table of 2^27 slots. */
const withBytes = (bytes: number) => Math.ceil((2 ** 30 + 16) / bytes);

it.each([
  [0.5, 24 * M - 1, "direct"],
  [0.5, 24 * M, "parts"],
  [0.5, 128 * M, "parts"],
  [0.84, 24 * M - 1, "direct"],
  [0.84, 24 * M, "parts"],
  [0.84, withBytes(12) - 1, "parts"],
  [0.84, withBytes(12), "pages"],
  [0.88, 20 * M - 1, "direct"],
  [0.88, 20 * M, "parts"],
  [0.88, withBytes(24) - 1, "parts"],
  [0.88, withBytes(24), "pages"],
  [0.93, 17 * M - 1, "direct"],
  [0.93, 17 * M, "parts"],
  [0.93, withBytes(34) - 1, "parts"],
  [0.93, withBytes(34), "pages"],
  [0.95, 14 * M - 1, "direct"],
  [0.95, 14 * M, "parts"],
  [0.95, withBytes(48) - 1, "parts"],
  [0.95, withBytes(48), "pages"],
  [1, 11 * M - 1, "direct"],
  [1, 11 * M, "parts"],
  [1, withBytes(70) - 1, "parts"],
  [1, withBytes(70), "pages"],
])("at load %d %d lookups go %s", (load, count, way) => {
  expect(wayOf(tableAt(load), count)).toBe(way);
});

it.each([
  [0.5, 2 ** 23, "direct"],
  [0.5, 2 ** 24, "parts"],
  [0.5, 2 ** 26, "pages"],
  [0.95, 2 ** 21, "direct"],
  [0.95, 2 ** 23, "parts"],
  [0.95, 2 ** 25, "pages"],
])("at load %d %d keys are erased %s", (load, count, way) => {
  expect(planBulk("erase", tableAt(load), count, {}).way).toBe(way);
});

it("lookups go by parts where entries are in no order, or pages have shown to be no good", () => {
  expect(wayOf(tableAt(0.95, { ordered: false }), 2 ** 27)).toBe("parts");
  expect(wayOf(tableAt(0.95, { spoiled: new Set(["pages"]) }), 2 ** 27)).toBe("parts");
});

it("erased entries make walks as long as others", () => {
  expect(wayOf({ ...tableAt(0.5), tombstones: spec.slots * 0.45 } as TableState, 2 ** 25)).toBe("pages");
});

it.each([
  ["insert", 2 ** 27, "pages"],
  ["insert", 2 ** 26, "parts"],
  ["insert", 2 ** 25, "direct"],
  ["insertAndFind", 2 ** 27, "parts"],
  ["erase", 2 ** 28, "pages"],
  ["erase", 2 ** 26, "parts"],
  ["erase", 2 ** 24, "direct"],
  ["insertAndFind", 2 ** 26, "parts"],
] as const)("%s of %d keys, in 2^29 slots, goes %s", (operation, count, way) => {
  const table = { spec: { ...spec, slots: 2 ** 29 }, live: 2 ** 27 };
  expect(planBulk(operation, tableAt(0.25, table), count, {}).way).toBe(way);
});

it("changes go directly where the table is so large that few keys share what is read", () => {
  const large = { spec: { ...spec, slots: 2 ** 31 }, live: 2 ** 30 };
  for (const operation of ["insert", "insertAndFind", "erase"] as const) {
    const { way, reason } = planBulk(operation, tableAt(0.5, large), 2 ** 26, {});
    expect([way, reason]).toEqual(["direct", "the batch is small beside the table"]);
  }
  expect(wayOf(tableAt(0.5, large), 2 ** 26)).toBe("parts");
});

it("lookups that are to be partitioned are, however few", () => {
  expect(wayOf(tableAt(0.95), 10, "partitioned")).toBe("parts");
  expect(wayOf(tableAt(0.95), 2 ** 25, "partitioned")).toBe("pages");
});
