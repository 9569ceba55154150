/** Which strategy lookups take as a table fills and batches grow: the crossovers that were measured. */
import { expect, it } from "vitest";
import type { TableSpec } from "../../src/engine/layout.js";
import { planBulk } from "../../src/engine/webgpu/bulk-planner.js";
import type { TableState } from "../../src/engine/webgpu/table-state.js";

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

it.each([
  [0.5, 2 ** 24, "direct"],
  [0.5, 2 ** 25, "parts"],
  [0.5, 2 ** 27, "parts"],
  [0.84, 2 ** 27, "pages"],
  [0.84, 2 ** 26, "parts"],
  [0.9, 2 ** 25, "pages"],
  [0.95, 2 ** 24, "parts"],
  [0.95, 2 ** 25, "pages"],
  [0.95, 2 ** 23, "direct"],
  [1, 2 ** 24, "pages"],
])("at load %d %d lookups go %s", (load, count, way) => {
  expect(wayOf(tableAt(load), count)).toBe(way);
});

it("lookups go by parts where entries are in no order, or pages have shown to be no good", () => {
  expect(wayOf(tableAt(0.95, { ordered: false }), 2 ** 27)).toBe("parts");
  expect(wayOf(tableAt(0.95, { spoiled: new Set(["pages"]) }), 2 ** 27)).toBe("parts");
});

it("erased entries make walks as long as others", () => {
  expect(wayOf({ ...tableAt(0.5), tombstones: spec.slots * 0.45 } as TableState, 2 ** 25)).toBe("pages");
});

it("lookups that are to be partitioned are, however few", () => {
  expect(wayOf(tableAt(0.95), 10, "partitioned")).toBe("parts");
  expect(wayOf(tableAt(0.95), 2 ** 25, "partitioned")).toBe("pages");
});
