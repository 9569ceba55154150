// Row groups of dictionary codes give their different rows and how often each is there; kernels decode as loops do.
import type { Table } from "@uwdata/flechette";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type FileParts, partsOf } from "../../src/arrow/file-parts.js";
import { readBatches, readTable } from "../../src/io/index.js";
import { decodeRuns } from "../../src/io/parquet/parquet-runs.js";
import { MOST_CODES, type RunKernels, runKernels } from "../../src/io/parquet/run-kernels.js";
import { rounds } from "../helpers/rounds.js";
import { openDuck } from "./duckdb.js";
import { temporaryFolder } from "./temporary.js";

const kernels = runKernels() as RunKernels;

/** Runs of one value, and of packed ones, as Parquet has them. */
function encoded(values: readonly number[], width: number, cuts: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  const varint = (value: number) => {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    bytes.push(rest);
  };
  let at = 0;
  for (let c = 0; at < values.length; c++) {
    const cut = cuts[c % cuts.length];
    let same = at;
    while (same < values.length && values[same] === values[at]) same++;
    if (cut % 3 === 0 || same - at > 8) {
      varint(2 * (same - at));
      for (let shift = 0; shift < width; shift += 8) bytes.push(Math.floor(values[at] / 2 ** shift) & 255);
      at = same;
      continue;
    }
    const run = values.slice(at, at + 8 * cut);
    at += run.length;
    const groups = Math.ceil(run.length / 8);
    varint(2 * groups + 1);
    const bits = run.flatMap((value) =>
      Array.from({ length: width }, (_, b) => Math.floor(value / 2 ** b) % 2),
    );
    for (let i = 0; i < groups * width; i++)
      bytes.push(
        Array.from({ length: 8 }, (_, b) => (bits[8 * i + b] ?? 0) * 2 ** b).reduce((a, b) => a + b),
      );
  }
  return Uint8Array.from(bytes);
}

const inLoops = (bytes: Uint8Array, width: number, count: number) => {
  const values = new Int32Array(count);
  try {
    return { largest: decodeRuns(bytes, 0, width, count, values), values };
  } catch {
    return null;
  }
};

const aPage = fc.integer({ min: 1, max: 25 }).chain((width) =>
  fc.record({
    width: fc.constant(width),
    values: fc
      .array(fc.tuple(fc.nat(2 ** width - 1), fc.constantFrom(1, 1, 1, 2, 7, 8, 9, 40)), {
        minLength: 1,
        maxLength: 60,
      })
      .map((runs) => runs.flatMap(([value, length]) => new Array<number>(length).fill(value))),
    cuts: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
    cut: fc.nat(40),
    damage: fc.option(fc.tuple(fc.nat(400), fc.nat(255)), { freq: 3 }),
  }),
);

it("kernels decode runs as loops do, whole, cut off and damaged", () => {
  fc.assert(
    fc.property(aPage, ({ width, values, cuts, cut, damage }) => {
      const whole = encoded(values, width, cuts);
      const bytes = whole.slice(0, Math.max(0, whole.length - Math.max(0, cut - 20)));
      if (damage) bytes[damage[0] % bytes.length] = damage[1];
      const expected = inLoops(bytes, width, values.length);
      const largest = kernels.decode(bytes, width, values.length);
      if (expected === null) {
        expect(largest).toBe(-1);
        return;
      }
      // runs that are longer than any page are left to loops
      if (largest === -1 && damage) return;
      expect(largest).toBe(expected.largest);
      expect(kernels.codes.slice(0, values.length)).toEqual(expected.values);
      if (bytes.length === whole.length && !damage) expect([...expected.values]).toEqual(values);
    }),
    { numRuns: rounds(2000) },
  );
});

it.each([0, 26, 32])("kernels leave codes of %i bits to loops", (width) => {
  expect(kernels.decode(new Uint8Array(100).fill(2), width, 8)).toBe(-1);
});

it("kernels take the longest page, and none that is longer", () => {
  const bytes = Uint8Array.of(0x80, 0x80, 0x80, 0x01, 2); // 2^20 times 2
  expect(kernels.decode(bytes, 2, MOST_CODES)).toBe(2);
  expect(kernels.codes.every((code) => code === 2)).toBe(true);
  expect(kernels.decode(bytes, 2, MOST_CODES + 1)).toBe(-1);
});

it("kernels combine codes and count numbers, and touch no others", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.nat(6), { minLength: 1, maxLength: 37 }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(4), { minLength: 160, maxLength: 160 }),
      (pages, others) => {
        const rows = pages.flat().length;
        let row = 0;
        for (const page of pages) {
          kernels.codes.set(page);
          kernels.combine(row, page.length, 0);
          row += page.length;
        }
        for (let from = 0; from < rows; from += 13) {
          kernels.codes.set(others.slice(from, from + 13));
          kernels.combine(from, Math.min(13, rows - from), 5);
        }
        const numbers = pages.flat().map((code, i) => 5 * code + others[i]);
        const counts = new Map<number, number>();
        for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
        const made = kernels.tally(rows, 35);
        expect([...made.numbers]).toEqual([...counts.keys()]);
        expect([...made.weights]).toEqual([...counts.values()]);
      },
    ),
    { numRuns: rounds(200) },
  );
});

const path = temporaryFolder();
const duck = await openDuck();

const partsOfFile = (name: string): Promise<FileParts> => {
  const open = partsOf(readBatches(path(name)));
  return (open as NonNullable<typeof open>)(null);
};

const texts = (table: Table) =>
  table.toArray().map((row) => JSON.stringify(row, (_, v) => (typeof v === "bigint" ? `${v}n` : v)));

/** The different rows of a file, row group by row group, and how often each is there. */
async function counted(name: string, groupRows: number): Promise<[row: string, weight: number][]> {
  const rows = texts(await readTable(path(name)));
  const made: [string, number][] = [];
  for (let from = 0; from < rows.length; from += groupRows) {
    const counts = new Map<string, number>();
    for (const row of rows.slice(from, from + groupRows)) counts.set(row, (counts.get(row) ?? 0) + 1);
    made.push(...counts);
  }
  return made;
}

const COLUMNS = {
  texts:
    "case when hash(i) % 3 = 0 then null else 'kind ' || (hash(i + 1) % 12) end as kind, (hash(i + 2) % 90)::integer as page",
  numbers:
    "(hash(i) % 9)::decimal(15, 2) as price, ((hash(i + 1) % 7)::bigint - 3) * 1e12::bigint as id, (hash(i + 3) % 4)::utinyint as small",
  nulls:
    "case when i % 40960 between 900 and 17000 then null else (hash(i) % 5) end::double as number, date '2020-01-01' + (hash(i + 1) % 30)::integer as day",
};

it.each(
  Object.entries(COLUMNS).flatMap(([name, columns]) =>
    ["V1", "V2"].flatMap((version) =>
      ["snappy", "zstd", "uncompressed"].map((codec) => [name, version, codec, columns]),
    ),
  ),
)("different rows of %s, %s, %s", async (name, version, codec, columns) => {
  const file = `${name}-${version}-${codec}.parquet`;
  await duck.run(
    `copy (select ${columns} from range(100000) t(i)) to '${path(file)}'
       (row_group_size 40960, parquet_version ${version}, codec '${codec}')`,
  );
  const parts = await partsOfFile(file);
  const part = await parts.next(2 ** 20);
  const { table, weights } = await parts.decode(part as NonNullable<typeof part>, true);
  expect(weights).not.toBeNull();
  const rows = texts(table);
  expect(rows.map((row, i) => [row, weights?.[i]])).toEqual(await counted(file, 40960));
  await parts.close();
});

it.each([
  ["too many are possible", "(hash(i) % 200)::integer as a, (hash(i + 1) % 200)::integer as b"],
  ["one is plain", "(hash(i) % 5)::integer as a, hash(i + 1) as b"],
  ["one becomes plain", "(case when i < 30000 then i % 3 else hash(i) end)::ubigint as a"],
  ["one is of lists", "(hash(i) % 5)::integer as a, [i % 3] as b"],
])("all rows come where %s", async (name, columns) => {
  const file = `${name}.parquet`;
  await duck.run(
    `copy (select ${columns} from range(100000) t(i)) to '${path(file)}' (row_group_size 40960)`,
  );
  const parts = await partsOfFile(file);
  const part = await parts.next(2 ** 20);
  const { table, weights } = await parts.decode(part as NonNullable<typeof part>, true);
  expect(weights).toBeNull();
  expect(table.numRows).toBe(100_000);
  await parts.close();
});
