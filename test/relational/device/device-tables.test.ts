// Tables on the device: joined there as in DuckDB, on every engine, and what comes back is what went up.
import { Table, tableFromArrays } from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JOIN_KINDS } from "../../../src/engine/join-kinds.js";
import { ValidationError } from "../../../src/index.js";
import { DeviceTable, join } from "../../../src/relational/index.js";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { rounds } from "../../helpers/rounds.js";
import type { Logical } from "../helpers/buffers.js";
import { isHeldKind, type Kind, kinds } from "../helpers/kinds.js";
import { expectSameJoin, readBack } from "../helpers/oracle.js";
import { arrowTable, forms, testTable } from "../helpers/tables.js";

const device = useDevice();

const held = Object.values(kinds).filter(isHeldKind);

/** A table whose columns are of these kinds: `k0`… are keys. */
function aTable(
  columnKinds: readonly Kind[],
  keys: number,
  rows: number,
  different: number,
  dictionary: readonly boolean[],
) {
  const columns = columnKinds.map((kind, c) => {
    const value: fc.Arbitrary<Logical> = fc
      .nat(Math.min(different, kind.domain.length) - 1)
      .map((i) => kind.domain[i]);
    return fc.array(fc.option(value, { freq: 8 }), { minLength: rows, maxLength: rows }).map((values) => ({
      name: c < keys ? `k${c}` : `p${c - keys}`,
      kind,
      values,
      dictionary: dictionary[c],
    }));
  });
  return fc.tuple(...columns).map(testTable);
}

const aKind = fc.constantFrom(...held);
const aCase = fc
  .record({
    keys: fc.array(aKind, { minLength: 1, maxLength: 2 }),
    left: fc.array(aKind, { maxLength: 3 }),
    right: fc.array(aKind, { maxLength: 3 }),
    rows: fc.record({ left: fc.nat(90), right: fc.nat(90) }),
    different: fc.integer({ min: 1, max: 20 }),
    dictionary: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    form: fc.constantFrom(...forms),
    how: fc.constantFrom(...JOIN_KINDS),
    nullsEqual: fc.boolean(),
  })
  .chain((shape) => {
    const { keys, rows, different, dictionary } = shape;
    return fc.record({
      left: aTable([...keys, ...shape.left], keys.length, rows.left, different, dictionary),
      right: aTable([...keys, ...shape.right], keys.length, rows.right, different, dictionary),
      shape: fc.constant(shape),
    });
  });

describe("tables on the device", () => {
  it("any two join as in DuckDB", async () => {
    await fc.assert(
      fc.asyncProperty(aCase, async ({ left, right, shape }) => {
        await expectSameJoin(device(), {
          left,
          right,
          on: shape.keys.map((_, c) => [`k${c}`, `k${c}`] as const),
          how: shape.how,
          nullsEqual: shape.nullsEqual,
          leftForm: shape.form,
          rightForm: shape.form,
          onDevice: true,
        });
      }),
      { numRuns: rounds(scaled(100, 20)) },
    );
  });

  it.each(JOIN_KINDS)("%s: one key of one or two words, different on one side", async (how) => {
    for (const kind of [kinds.int32, kinds.int64]) {
      const column = (name: string, rows: number, of: (row: number) => number | null) => ({
        name,
        kind,
        values: Array.from({ length: rows }, (_, row) => {
          const value = of(row);
          return value === null ? null : BigInt(value);
        }),
        dictionary: false,
      });
      const many = testTable([
        column("k", 700, (row) => (row % 9 === 0 ? null : row % 500)),
        column("a", 700, (row) => row),
      ]);
      const few = testTable([
        column("k", 300, (row) => (row === 7 ? null : 2 * row)),
        column("b", 300, (row) => -row),
      ]);
      const on = [["k", "k"]] as const;
      await expectSameJoin(device(), { left: many, right: few, on, how, onDevice: true });
      await expectSameJoin(device(), { left: few, right: many, on, how, onDevice: true });
      await expectSameJoin(device(), { left: few, right: many, on, how, onDevice: true, nullsEqual: true });
    }
  });

  it("comes back as it went up, all columns or some", async () => {
    const columns = held.map((kind, c) => ({
      name: `c${c}`,
      kind,
      values: Array.from({ length: 70 }, (_, row) =>
        row % 5 === 3 ? null : kind.domain[row % kind.domain.length],
      ),
      dictionary: c % 4 === 1,
    }));
    const source = arrowTable(testTable(columns));
    using table = await device().uploadTable(source);
    expect(table.names).toEqual(columns.map(({ name }) => name));
    expect(table.byteLength).toBeGreaterThan(0);
    const back = readBack(await table.toArrow()).toColumns();
    expect(back).toEqual(readBack(source as Table).toColumns());
    const some = await table.toArrow({ columns: ["c3", "c1"] });
    expect(some.names).toEqual(["c3", "c1"]);
    using one = await device().uploadTable(source, { columns: ["c2"] });
    expect(one.names).toEqual(["c2"]);
  });

  it("takes an Arrow table beside one on the device, and gives one of either kind", async () => {
    const left = tableFromArrays({ id: [1, 2, 3], city: ["Oslo", "Lima", "Rome"] });
    const right = tableFromArrays({ id: [3, 1, 1], n: [30, 10, 11] });
    using cities = await device().uploadTable(left);
    const joined = await join(cities, right, { on: ["id"] });
    expect(joined).toBeInstanceOf(Table);
    using there = await join(left, right, { on: ["id"], device: device(), output: "device" });
    expect(there).toBeInstanceOf(DeviceTable);
    const rows = (table: Table) =>
      table
        .toArray()
        .map((row) => JSON.stringify(row))
        .sort();
    expect(rows(await there.toArrow())).toEqual(rows(joined));
    expect(joined.numRows).toBe(3);
    using again = await join(there, cities, { on: ["id"], how: "semi", output: "device" });
    expect(again.numRows).toBe(3);
  });

  it("refuses what it cannot do, with the reason", async () => {
    const table = tableFromArrays({ id: [1, 2], tags: [["a"], ["b", "c"]] });
    await expect(device().uploadTable(table)).rejects.toThrow('Column "tags" is of type list');
    await expect(device().uploadTable(table, { columns: ["idd"] })).rejects.toThrow('Did you mean "id"?');
    await expect(device().uploadTable(table, { columns: "id" as never })).rejects.toThrow(ValidationError);
    const ids = await device().uploadTable(table, { columns: ["id"] });
    await expect(ids.toArrow({ columns: ["x"] })).rejects.toThrow('no column "x"');
    ids.destroy();
    await expect(ids.toArrow()).rejects.toBeInstanceOf(ValidationError);
    await expect(join(ids, ids, { on: ["id"] })).rejects.toThrow("was destroyed");
    await expect(
      join(table, table, { on: ["id"], device: device(), output: "gpu" as never }),
    ).rejects.toThrow("output");
  });
});
