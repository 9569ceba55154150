// Files that are decoded and grouped part by part give what their rows at once do, whatever the parts and the threads.
import { readFileSync } from "node:fs";
import {
  columnFromArray,
  decimal,
  float64,
  int32,
  int64,
  type Table,
  tableFromColumns,
  utf8,
} from "@uwdata/flechette";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { type FileParts, partsOf } from "../../../src/arrow/file-parts.js";
import { type Device, openDevice } from "../../../src/index.js";
import { readBatches, readTable, tableToBytes } from "../../../src/io/index.js";
import { groupParts } from "../../../src/relational/group/group-parts.js";
import { Grouping } from "../../../src/relational/group/grouping.js";
import type { GroupByOptions } from "../../../src/relational/index.js";
import * as relational from "../../../src/relational/index.js";
import { covering, rounds } from "../../helpers/rounds.js";
import { openDuck } from "../../io/duckdb.js";
import { temporaryFolder } from "../../io/temporary.js";

const {
  approxCountDistinct,
  count,
  countDistinct,
  distinct,
  first,
  groupBy,
  last,
  max,
  mean,
  median,
  min,
  sum,
} = relational;

const devices = await Promise.all([1, 2, 3].map((threads) => openDevice({ backend: "cpu", threads })));
afterAll(() => {
  for (const device of devices) device.destroy();
});

const FORMAT = { format: "parquet" } as const;

/** Of states that merged rows have. */
const OF_MERGED = {
  rows: count(),
  names: count("name"),
  ids: sum("id"),
  smalls: sum("small"),
  total: sum("price"),
  mean: mean("small"),
  least: min("number"),
  most: max("name"),
  first: first("name"),
  about: approxCountDistinct("id"),
};
/** Of states that parts have. */
const OF_PARTS = {
  rows: count(),
  names: count("name"),
  ids: sum("id"),
  total: sum("price"),
  mean: mean("number"),
  sum: sum("number"),
  least: min("number"),
  most: max("name"),
  first: first("name"),
  last: last("price"),
  about: approxCountDistinct("id"),
};
const OF_TABLES = { ...OF_PARTS, different: countDistinct("name"), middle: median("number") };

interface Case {
  /** Rows of each row group. */
  readonly cuts: readonly number[];
  readonly names: number;
  readonly ids: number;
  /** Of how many values one is null; 0: none. */
  readonly nulls: number;
  readonly seed: number;
}

const aCase = fc.record<Case>({
  cuts: fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 9 }),
  names: fc.constantFrom(1, 5, 300, 100_000),
  ids: fc.constantFrom(1, 40, 100_000),
  nulls: fc.constantFrom(0, 3, 50),
  seed: fc.integer(),
});

/** Rows like those of a case, in tables. */
function tablesOf({ cuts, names, ids, nulls, seed }: Case): Table[] {
  let state = seed;
  const below = (most: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) % most;
  };
  const orNull = <T>(value: T) => (nulls > 0 && below(nulls) === 0 ? null : value);
  const list = <T>(rows: number, value: () => T) => Array.from({ length: rows }, () => orNull(value()));
  const NUMBERS = [0.1, -0, 1e16, Number.NaN, 1e-9, -7.25];
  return cuts.map((rows) =>
    tableFromColumns({
      name: columnFromArray(
        list(rows, () => `name ${below(names)}`),
        utf8(),
      ),
      id: columnFromArray(
        list(rows, () => BigInt(below(ids)) - 20n),
        int64(),
      ),
      small: columnFromArray(
        list(rows, () => below(7)),
        int32(),
      ),
      price: columnFromArray(
        list(rows, () => below(1000) / 4),
        decimal(12, 2, 128),
      ),
      number: columnFromArray(
        list(rows, () => NUMBERS[below(NUMBERS.length)] * below(9)),
        float64(),
      ),
    }),
  );
}

const batchesOf = async function* (tables: readonly Table[]) {
  yield* tables;
};

const openParts = (bytes: Uint8Array): Promise<FileParts> => {
  const open = partsOf(readBatches(bytes, FORMAT));
  return (open as NonNullable<typeof open>)(null);
};

const rowsOf = (table: Table) => table.toArray().map((row) => Object.entries(row as object));

/** Cut small, so that files of tests have many parts. */
const aTuning = fc.record({
  part: fc.integer({ min: 1, max: 1500 }),
  merged: fc.constantFrom(1, 1000, 100_000),
  shared: fc.constantFrom(0, 1000),
  table: fc.constantFrom(1, 900, 100_000),
  waiting: fc.constantFrom(0, 100, 100_000),
});
const someKeys = fc.constantFrom(
  ["name"],
  ["id"],
  ["small"],
  ["name", "small"],
  ["number"],
  ["price", "name"],
  ["id", "small"],
);

const someStates = fc.constantFrom<GroupByOptions["aggregate"]>(OF_MERGED, OF_PARTS, OF_TABLES);

it("any file has the groups that its rows have at once", async () => {
  await fc.assert(
    fc.asyncProperty(
      aCase,
      aTuning,
      someKeys,
      someStates,
      fc.nat(2),
      async (made, tuning, by, aggregate, d) => {
        const bytes = await tableToBytes(batchesOf(tablesOf(made)), FORMAT);
        const options = { by, aggregate, device: devices[d] as Device };
        const expected = await groupBy(await readTable(bytes, FORMAT), options);
        const parts = await groupParts(new Grouping("groupBy", options), await openParts(bytes), tuning);
        expect(rowsOf(parts)).toEqual(rowsOf(expected));
        expect(rowsOf(await groupBy(readBatches(bytes, FORMAT), options))).toEqual(rowsOf(expected));
        const rows = await distinct(readBatches(bytes, FORMAT), { on: by, device: devices[d] });
        expect(rowsOf(rows)).toEqual(
          rowsOf(await distinct(await readTable(bytes, FORMAT), { on: by, device: devices[d] })),
        );
      },
    ),
    { numRuns: rounds(8) },
  );
});

const path = temporaryFolder();
const duck = await openDuck();
/** More than the calling thread groups alone, by the tuning of users. */
const ROWS = 1_100_000;
await duck.run(
  `copy (select i // 3 as id, 'kind ' || (i % 12) as kind, (i % 1000)::integer as page, (i % 50)::decimal(15, 2) as price from range(${ROWS}) t(i))
     to '${path("in.parquet")}' (row_group_size 100000)`,
);
const LARGE_AGGREGATE = { n: count(), total: sum("page"), price: sum("price") };
/** The groups of the large file's rows, at once. */
const large = groupBy(await readTable(path("in.parquet")), {
  by: ["id"],
  aggregate: LARGE_AGGREGATE,
  device: devices[0],
});

await duck.run(
  `copy (select case when hash(i) % 7 = 0 then null else 'kind ' || (hash(i + 1) % 5) end as kind,
       (hash(i + 2) % 4)::integer - 2 as small, ((hash(i + 3) % 3)::bigint - 1) * 1e14::bigint as wide,
       ((hash(i + 5) % 3)::bigint - 1) * 3000000000 as edge,
       case when hash(i + 4) % 5 = 0 then null else ((hash(i + 4) % 5)::bigint - 2)::decimal(15, 2) end as price
     from range(300000) t(i)) to '${path("few.parquet")}' (row_group_size 40960)`,
);
const FEW_AGGREGATE = {
  n: count(),
  prices: count("price"),
  total: sum("price"),
  wide: sum("wide"),
  edge: sum("edge"),
  small: sum("small"),
  mean: mean("price"),
  least: min("small"),
  most: max("kind"),
  first: first("wide"),
  about: approxCountDistinct("price"),
};

it.each(covering([1, 2], (threads) => threads === 2))(
  "rows that are merged count as often as they are there, by %i threads",
  async (threads) => {
    const parts = await openParts(readFileSync(path("few.parquet")));
    const part = await parts.next(1);
    expect((await parts.decode(part as NonNullable<typeof part>, true)).weights).not.toBeNull();
    await parts.close();
    const whole = await readTable(path("few.parquet"));
    for (const by of [["kind"], ["price", "kind"], ["small"]]) {
      const names = Object.entries(FEW_AGGREGATE).filter(([name]) => !by.includes(name));
      const options = { by, aggregate: Object.fromEntries(names), device: devices[threads - 1] as Device };
      const expected = rowsOf(await groupBy(whole, options));
      expect(rowsOf(await groupBy(readBatches(path("few.parquet")), options))).toEqual(expected);
      const tuning = { part: 1, merged: 100_000, shared: 0, table: 1000, waiting: 0 };
      const made = await groupParts(
        new Grouping("groupBy", options),
        await openParts(readFileSync(path("few.parquet"))),
        tuning,
      );
      expect(rowsOf(made)).toEqual(expected);
    }
    // of the last row and of floats all rows are needed
    const options = { by: ["kind"], aggregate: { last: last("small"), n: count() }, device: devices[0] };
    const expected = rowsOf(await groupBy(whole, options));
    expect(rowsOf(await groupBy(readBatches(path("few.parquet")), options))).toEqual(expected);
  },
);

it.each(covering([1, 2, 3], (threads) => threads !== 2))(
  "large files are grouped by %i threads",
  async (threads) => {
    const device = devices[threads - 1];
    const done: number[] = [];
    const of = async (by: string[]) => {
      const onProgress = (rows: number) => void done.push(rows);
      return groupBy(readBatches(path("in.parquet")), { by, aggregate: LARGE_AGGREGATE, device, onProgress });
    };
    expect(rowsOf(await of(["kind"])).length).toBe(12);
    expect(done.at(-1)).toBe(ROWS);
    const groups = await of(["id"]);
    expect(groups.numRows).toBe(Math.ceil(ROWS / 3));
    const whole = await large;
    for (const name of whole.names) {
      const [made, wanted] = [groups, whole].map((table) => table.getChild(name).toArray());
      expect(made).toEqual(wanted);
    }
  },
);

it.each([1, 2])("an abort ends them, by %i threads", async (threads) => {
  const stop = new AbortController();
  const call = groupBy(readBatches(path("in.parquet"), { signal: stop.signal }), {
    by: ["kind"],
    aggregate: { n: count() },
    device: devices[threads - 1],
    signal: stop.signal,
    onProgress: () => stop.abort(new Error("enough")),
  });
  await expect(call).rejects.toThrow("enough");
  const again = { by: ["kind"], aggregate: { n: count() }, device: devices[threads - 1] };
  expect((await groupBy(readBatches(path("in.parquet")), again)).numRows).toBe(12);
});

it.each([1, 2])("damage in the middle is told as of the file, by %i threads", async (threads) => {
  const bytes = new Uint8Array(readFileSync(path("in.parquet")));
  bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 200_000);
  const call = groupBy(readBatches(bytes, { ...FORMAT, name: "in.parquet" }), {
    by: ["kind", "page"],
    aggregate: { n: sum("price"), ids: sum("id") },
    device: devices[threads - 1],
  });
  await expect(call).rejects.toMatchObject({ code: "FILE", message: expect.stringContaining("in.parquet") });
});

it("columns that there are not are told before anything is read, and batches are read once", async () => {
  const options = { by: ["kinds"], aggregate: { n: count() }, device: devices[0] };
  await expect(groupBy(readBatches(path("in.parquet")), options)).rejects.toThrow('no column "kinds"');
  const batches = readBatches(path("in.parquet"));
  const once = { ...options, by: ["kind"] };
  expect((await groupBy(batches, once)).numRows).toBe(12);
  await expect(groupBy(batches, once)).rejects.toThrow("were read already");
});
