// Dictionary columns of strings as keys of tables on the device: dictionaries that differ, with values that come twice or that no row has, and nulls; against
// the same strings without a dictionary, and a Map.
import {
  batchType,
  Column,
  columnFromArray,
  dictionary,
  int32,
  type Table,
  tableFromColumns,
  utf8,
} from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JoinKind } from "../../../src/engine/join-kinds.js";
import type { Plan } from "../../../src/index.js";
import { count, groupBy, join } from "../../../src/relational/index.js";
import { useDevice } from "../../conformance/helpers/device.js";
import { rounds } from "../../helpers/rounds.js";

const device = useDevice();

/** Strings, and codes of them; null: a null, over any bits. */
interface Coded {
  readonly words: readonly string[];
  readonly codes: readonly (number | null)[];
}

const STRINGS = ["", "Köln", "LAX", "LAXA", "\u0000", "日本", "SFO", "a".repeat(40)];

function columnOf({ words, codes }: Coded): Column<unknown> {
  const type = dictionary(utf8(), int32());
  const validity = new Uint8Array(Math.ceil(codes.length / 8));
  for (const [row, code] of codes.entries()) if (code !== null) validity[row >> 3] |= 1 << (row & 7);
  const nullCount = codes.filter((code) => code === null).length;
  const batch = new (batchType(type, {}))({
    type,
    length: codes.length,
    nullCount,
    validity: nullCount > 0 ? validity : new Uint8Array(0),
    values: Int32Array.from(codes, (code) => code ?? 0),
  });
  return new Column([batch.setDictionary(columnFromArray([...words], utf8()))], type);
}

const valuesOf = ({ words, codes }: Coded) => codes.map((code) => (code === null ? null : words[code]));
const numbers = (rows: number) => columnFromArray(Int32Array.from({ length: rows }, (_, row) => row));

/** Row numbers of the joined rows. */
const read = (table: Table) =>
  table
    .toArray()
    .map(({ a, b }) => `${a ?? "-"} ${b ?? "-"}`)
    .sort();

function expected(left: Coded, right: Coded, how: JoinKind): string[] {
  const rights = valuesOf(right);
  return valuesOf(left)
    .flatMap((value, row) => {
      const partners = [...rights.keys()].filter((other) => value !== null && rights[other] === value);
      if (how === "semi") return partners.length > 0 ? [`${row} -`] : [];
      if (partners.length === 0) return how === "left" ? [`${row} -`] : [];
      return partners.map((partner) => `${row} ${partner}`);
    })
    .sort();
}

async function joined(left: Coded, right: Coded, how: JoinKind): Promise<{ rows: string[]; plan: string }> {
  const upload = (side: Coded, name: string) =>
    device().uploadTable(tableFromColumns({ k: columnOf(side), [name]: numbers(side.codes.length) }));
  const [l, r] = [await upload(left, "a"), await upload(right, "b")];
  let plan: Plan | undefined;
  const result = await join(l, r, {
    on: ["k"],
    how,
    device: device(),
    output: "device",
    onPlan: (told) => {
      plan = told;
    },
  });
  const rows = read(await result.toArrow());
  for (const table of [l, r, result]) table.destroy();
  return { rows, plan: plan?.reason ?? "" };
}

const aSide = fc
  .record({
    words: fc.array(fc.constantFrom(...STRINGS), { minLength: 1, maxLength: 9 }),
    rows: fc.integer({ min: 1, max: 60 }),
    seed: fc.nat(1000),
    nulls: fc.boolean(),
  })
  .map(({ words, rows, seed, nulls }): Coded => {
    const code = (row: number) => (Math.imul(row + seed, 0x9e3779b1) >>> 8) % words.length;
    const codes = Array.from({ length: rows }, (_, row) =>
      nulls && (row + seed) % 5 === 0 ? null : code(row),
    );
    return { words, codes };
  });

describe("dictionary columns as keys", () => {
  it("join as their strings do", async () => {
    const property = fc.asyncProperty(
      aSide,
      aSide,
      fc.constantFrom<JoinKind>("inner", "left", "semi"),
      async (left, right, how) => {
        expect((await joined(left, right, how)).rows).toEqual(expected(left, right, how));
      },
    );
    await fc.assert(property, { numRuns: rounds(15) });
  });

  it("which no two right rows share: the codes are places", async () => {
    const left = { words: ["x", "LAX", "SFO", "y"], codes: [0, 1, 2, 1, 3, null] };
    const right = { words: ["unused", "SFO", "LAX"], codes: [1, 2] };
    const { rows, plan } = await joined(left, right, "inner");
    expect(rows).toEqual(["1 1", "2 0", "3 1"]);
    if (device().backend === "webgpu") expect(plan).toContain("places of an array");
  });

  it("group as their strings do, where values come twice, too", async () => {
    const side = { words: ["b", "a", "unused", "b"], codes: [3, 0, 1, null, 0, 1, null] };
    const table = await device().uploadTable(tableFromColumns({ k: columnOf(side) }));
    const groups = await groupBy(table, {
      by: ["k"],
      aggregate: { n: count() },
      device: device(),
    });
    expect(groups.toArray().map(({ k, n }) => [k, Number(n)])).toEqual([
      ["b", 3],
      ["a", 2],
      [null, 2],
    ]);
    table.destroy();
  });
});
