// Joins, group-bys and distincts within a limit of memory: that they write files, what they answer then, and what is left of the files.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join as joinPaths } from "node:path";
import { type Table, tableFromArrays } from "@uwdata/flechette";
import { afterEach, describe, expect, it, vi } from "vitest";
import { JOIN_KINDS } from "../../src/engine/join-kinds.js";
import { fileModule } from "../../src/io/builtin.js";
import { groupLarge } from "../../src/relational/group/group-large.js";
import {
  approxCountDistinct,
  count,
  countDistinct,
  distinct,
  first,
  groupBy,
  type JoinOptions,
  join,
  max,
  median,
  type SpillReport,
  sum,
} from "../../src/relational/index.js";
import { joinLarge } from "../../src/relational/join/join-large.js";
import { useDevice } from "../conformance/helpers/device.js";
import { covering } from "../helpers/rounds.js";
import { temporaryFolder } from "../io/temporary.js";
import { Random } from "../relational/helpers/random.js";

const device = useDevice();
const path = temporaryFolder();
const MIB = 2 ** 20;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Options of calls whose files are in a folder of their own, and what they tell. */
function memoryIn(name: string, limit = MIB) {
  const folder = path(name);
  mkdirSync(folder, { recursive: true });
  const reports: SpillReport[] = [];
  return {
    memory: { limit, folder, onSpill: (report: SpillReport) => void reports.push(report) },
    reports,
    left: () => readdirSync(folder),
  };
}

/** Rows of a batch. */
const BATCH = 80;

/** Rows of batches with keys below `keys`: of numbers, and of long text every 16th of which is null, so that few rows do not fit. */
function* batches(random: Random, rows: number, keys: number, value: string, length = 1400) {
  for (let from = 0; from < rows; from += BATCH) {
    const key = Int32Array.from({ length: Math.min(BATCH, rows - from) }, () => random.below(keys));
    const text = Array.from(key, (k) => (random.below(16) === 0 ? null : `text of ${k}`.padEnd(length, ".")));
    yield tableFromArrays({ key, text, [value]: Int32Array.from(key, (_, i) => from + i) });
  }
}

const cellOf = (value: unknown) => (typeof value === "bigint" ? `"${value}"` : JSON.stringify(value));

/** A row as text, in the order of rows as texts. */
function rowsOf(table: Table): string[] {
  // column by column: rows as objects take ten times as long
  const columns = table.children.map((column) => Array.from(column, cellOf));
  return Array.from({ length: table.numRows }, (_, row) => columns.map((cells) => cells[row]).join()).sort();
}

/** Without a difference of megabytes. */
function expectSame(made: Table, expected: Table): void {
  const [ours, theirs] = [rowsOf(made), rowsOf(expected)];
  expect(ours.length).toBe(theirs.length);
  const at = ours.findIndex((row, i) => row !== theirs[i]);
  expect(ours[at]).toBe(theirs[at]);
}

function stacked(tables: Iterable<Table>): Record<string, unknown[]> {
  const columns: Record<string, unknown[]> = {};
  for (const table of tables) {
    for (const name of table.names) {
      columns[name as string] ??= [];
      columns[name as string].push(...table.getChild(name as string));
    }
  }
  return columns;
}

describe("a join", () => {
  // random-large.test.ts has all kinds, of small tables
  it.each(covering(JOIN_KINDS, (how) => how === "full" || how === "semi"))(
    "of kind %s that does not fit answers what it does in memory",
    async (how) => {
      const sides = () => {
        const random = new Random(7);
        return [[...batches(random, 600, 850, "a")], [...batches(random, 560, 850, "b")]] as const;
      };
      const options = { on: ["key", "text"], how, device: device() } satisfies JoinOptions;
      const [left, right] = sides();
      const here = await join(stacked(left) as never, stacked(right) as never, options);
      const { memory, reports, left: files } = memoryIn(`join-${how}`);
      const large = await join(left, right, { ...options, memory });
      expectSame(large, here);
      expect(large.names).toEqual(here.names);
      expect(reports).toHaveLength(1);
      expect(reports[0]).toMatchObject({ partitions: 32, depth: 0 });
      expect(reports[0].bytes).toBeGreaterThan(MIB);
      expect(files()).toEqual([]);
    },
  );

  it("of sides that fit writes nothing, also where only one of them does", async () => {
    const { memory, reports } = memoryIn("fits");
    const small = () => [tableFromArrays({ key: Int32Array.of(1, 2, 3, 1), city: ["a", "b", "c", "d"] })];
    const large = () => batches(new Random(1), 640, 420, "a");
    for (const how of JOIN_KINDS) {
      const here = { on: ["key"], how, device: device() };
      const [few, many] = [stacked(small()), stacked(large())] as never[];
      const onRight = await join(large(), small(), { ...here, memory });
      expectSame(onRight, await join(many, few, here));
      const onLeft = await join(small(), large(), { ...here, memory });
      expectSame(onLeft, await join(few, many, here));
    }
    expect(reports.map(({ bytes, partitions }) => bytes + partitions)).toEqual(Array(12).fill(0));
  });

  it.each(JOIN_KINDS)("of kind %s with one hot key stays within its limit", async (how) => {
    const side = (name: string, hot: number) => {
      // long keys: of short ones all rows take no more than a batch does besides
      const key = Array.from({ length: hot + 30 }, (_, row) => `${row < hot ? 7 : row}`.padEnd(60));
      return tableFromArrays({ key, [name]: Int32Array.from(key, (_, row) => row) });
    };
    const [left, right] = [side("l", 300), side("r", 290)];
    // few of the pairs come out
    const where = {
      columns: ["l", "r"],
      test: ({ l, r }: { l: number; r: number }) => l > 295 || l % 25 === r % 25,
    };
    const options = { on: ["key"], how, where, device: device() };
    const here = await join(left, right, options);
    const { memory, reports } = memoryIn(`hot-${how}`, 2 ** 15);
    const rows = new Set<string>();
    let answered = 0;
    for await (const table of joinLarge({ left: [left], right: [right] }, options, memory, 1e5)) {
      expect(table.numRows).toBeLessThan(1e5 / 8);
      answered += table.numRows;
      const columns = table.children.map((column) => [...column]);
      for (let row = 0; row < table.numRows; row++) rows.add(columns.map((column) => column[row]).join());
    }
    expect(answered).toBe(here.numRows);
    const columns = here.children.map((column) => [...column]);
    const all = new Set(Array.from({ length: here.numRows }, (_, row) => columns.map((c) => c[row]).join()));
    expect(rows.size).toBe(all.size);
    expect([...rows].every((row) => all.has(row))).toBe(true);
    expect(reports[0].depth).toBeGreaterThan(0);
  });

  it("deals null keys out, which match nothing", async () => {
    const key = Array.from({ length: 2500 }, (_, row) => (row % 50 === 0 ? `k${row}` : null));
    const side = (name: string) => [tableFromArrays({ key, [name]: Int32Array.from(key, (_, row) => row) })];
    const { memory, reports } = memoryIn("nulls", 2 ** 16);
    let rows = 0;
    const options = { on: ["key"], how: "full", device: device() } as const;
    for await (const { numRows } of joinLarge({ left: side("a"), right: side("b") }, options, memory, 1e6))
      rows += numRows;
    expect(rows).toBe(50 + 2 * 2450);
    expect(reports[0]).toMatchObject({ depth: 0 });
    expect(reports[0].bytes).toBeGreaterThan(2 ** 16);
  });

  it("has conditions, selected columns, counts and batches", async () => {
    const { memory, reports } = memoryIn("options");
    const sides = [
      [...batches(new Random(2), 4000, 1600, "a", 300)],
      [...batches(new Random(3), 4000, 1600, "b", 300)],
    ] as const;
    const where = { columns: ["a", "b"], test: ({ a, b }: { a: number; b: number }) => a < b };
    const options = { on: ["key"], where, select: ["b", "text_right"], device: device() };
    const here = await join(stacked(sides[0]) as never, stacked(sides[1]) as never, options);
    const large = join(...sides, { ...options, memory });
    expectSame(await large, here);
    expect(reports[0].partitions).toBe(32);
    expect(await large.count()).toBe(here.numRows);
    let rows = 0;
    for await (const table of large.batches({ maxBytes: 1e5 })) {
      expect(table.numRows).toBeLessThan(1e5 / 250);
      rows += table.numRows;
    }
    expect(rows).toBe(here.numRows);
  });

  it("of no rows has its columns", async () => {
    const { memory } = memoryIn("none");
    const none = { id: new Int32Array(0), x: new Float64Array(0) };
    const made = await join(none, none, { on: ["id"], how: "full", memory, device: device() });
    expect([made.numRows, made.names]).toEqual([0, ["id", "x", "x_right"]]);
  });

  it("takes batches without a limit", async () => {
    const large = await join(batches(new Random(4), 450, 100, "a"), batches(new Random(5), 200, 100, "b"), {
      on: ["key"],
      device: device(),
    });
    const here = await join(
      stacked(batches(new Random(4), 450, 100, "a")) as never,
      stacked(batches(new Random(5), 200, 100, "b")) as never,
      { on: ["key"], device: device() },
    );
    expectSame(large, here);
  });

  it("refuses batches of an iterator that is read already, and closes it", async () => {
    let closed = 0;
    async function* once() {
      try {
        yield* batches(new Random(12), 450, 50, "a");
      } finally {
        closed++;
      }
    }
    const options = { on: ["key"], device: device() };
    const twice = /read already.*each side of a join, and each call, batches of its own/;
    const both = once();
    await expect(join(both, both, { ...options, memory: { limit: MIB } })).rejects.toThrow(twice);
    expect(closed).toBe(1);
    const [small] = batches(new Random(13), 100, 50, "b");
    const result = join(once(), small, options);
    const [pairs, table] = await Promise.allSettled([result.count(), result]);
    const here = await join(stacked(batches(new Random(12), 450, 50, "a")) as never, small, options);
    expect(pairs).toMatchObject({ status: "fulfilled", value: here.numRows });
    expect(table).toMatchObject({ status: "rejected", reason: { code: "VALIDATION" } });
    const groups = batches(new Random(12), 450, 50, "a");
    const by = { by: ["key"], aggregate: { rows: count() }, device: device() };
    expect((await groupBy(groups, by)).numRows).toBe(50);
    await expect(groupBy(groups, by)).rejects.toThrow(twice);
    await expect(distinct(groups, { device: device() })).rejects.toThrow(twice);
    // an iterable that begins anew each time is none
    const anew = { [Symbol.iterator]: () => batches(new Random(12), 450, 50, "a") };
    const self = await join(anew, anew, options);
    expect(self.numRows).toBeGreaterThan(450);
  });

  it("refuses what it cannot do", async () => {
    const [a] = batches(new Random(6), 10, 5, "a");
    const run = (options: object) => join([a], [a], { on: ["key"], device: device(), ...options } as never);
    await expect(run({ memory: { limit: 1000 } })).rejects.toThrow(/memory\.limit is 1000.*at least 1048576/);
    await expect(run({ memory: { limt: 1 } })).rejects.toThrow(/no option "limt".*Did you mean "limit"/);
    await expect(run({ memory: { limit: MIB, folder: "" } })).rejects.toThrow(/memory\.folder is ""/);
    await expect(run({ output: "device" })).rejects.toThrow(/does not stay on a device/);
    await expect(join([], [a] as never, { on: ["key"], memory: { limit: MIB } })).rejects.toThrow(
      /ValidationError|No batch|no columns/,
    );
    const other = tableFromArrays({ key: Float64Array.of(1), text: ["a"], a: Int32Array.of(1) });
    await expect(join([a, other], [a], { on: ["key"], device: device() })).rejects.toThrow(
      /"key" of the left table is of type float64 in this batch, and of type int32/,
    );
    await expect(
      join([a, tableFromArrays({ key: [1] })], [a], { on: ["key"], device: device() }),
    ).rejects.toThrow(/A batch of the left table has the columns key, those before have key, text, a/);
  });
});

describe("a group-by", () => {
  const options = () => ({
    by: ["key", "text"],
    aggregate: {
      rows: count(),
      total: sum("a"),
      last: first("a"),
      middle: median("a"),
      // of a column with nulls, and of one without: groups of other partitions are told from nulls
      texts: countDistinct("text"),
      values: countDistinct("a"),
      most: max("a"),
      about: approxCountDistinct("a"),
    },
    device: device(),
  });

  it("of more groups than fit answers what it does in memory", async () => {
    const { memory, reports, left } = memoryIn("groups");
    const many = () => batches(new Random(8), 300, 180, "a");
    const large = groupBy(many(), { ...options(), memory });
    expectSame(await large, await groupBy(many(), options()));
    expect(reports[0].bytes).toBeGreaterThan(0);
    expect(left()).toEqual([]);
    let tables = 0;
    for await (const table of groupBy(many(), { ...options(), memory }).batches()) {
      expect(table.names).toEqual(["key", "text", ...Object.keys(options().aggregate)]);
      tables++;
    }
    expect(tables).toBeGreaterThan(4);
  });

  it("of few groups writes nothing, however many rows there are", async () => {
    const { memory, reports } = memoryIn("few");
    const by = { by: ["key"], aggregate: { rows: count(), total: sum("a") }, device: device() };
    const made = await groupBy(batches(new Random(9), 2500, 10, "a"), { ...by, memory });
    expect(made.numRows).toBe(10);
    expect(reports).toEqual([{ bytes: 0, partitions: 0, depth: 0 }]);
  });

  it("says when the values of one group are too many", async () => {
    const { memory, left } = memoryIn("values", 2 ** 16);
    const rows = tableFromArrays({ key: new Int32Array(20_000), a: new Float64Array(20_000) });
    const large = groupLarge(
      [rows],
      { by: ["key"], aggregate: { m: median("a") }, device: device() },
      memory,
    );
    await expect(large.next()).rejects.toThrow(/Limit memory: .*leave out medians/);
    const long = groupLarge(
      { key: ["x".repeat(2 ** 17)] },
      { by: ["key"], aggregate: {}, device: device() },
      memory,
    );
    await expect(long.next()).rejects.toThrow(/Limit memory: .*one group take so much, and a sixteenth/);
    expect(left()).toEqual([]);
  });
});

it("a distinct of more rows than fit keeps the first of equal rows", async () => {
  const { memory, reports } = memoryIn("distinct");
  const many = () => batches(new Random(10), 450, 225, "a");
  const large = await distinct(many(), { on: ["key"], memory, device: device() });
  const here = await distinct(many(), { on: ["key"], device: device() });
  expect(large.names).toEqual(here.names);
  expectSame(large, here);
  expect(reports[0].bytes).toBeGreaterThan(0);
});

describe("temporary files", () => {
  const on = () => ({ on: ["key"], device: device() });
  const side = (value: string) => batches(new Random(11), 520, 1040, value);

  it("are gone when the reader of the result stops", async () => {
    const { memory, left } = memoryIn("stops");
    for await (const _ of join(side("a"), side("b"), { ...on(), memory }).batches()) {
      expect(left()).toHaveLength(1);
      break;
    }
    expect(left()).toEqual([]);
  });

  it("are gone when an input fails, which is closed", async () => {
    const { memory, left } = memoryIn("fails");
    let closed = false;
    function* failing() {
      try {
        yield* side("a");
        expect(left()).toHaveLength(1);
        throw new Error("no more rows");
      } finally {
        closed = true;
      }
    }
    await expect(join(failing(), side("b"), { ...on(), memory })).rejects.toThrow("no more rows");
    expect([left(), closed]).toEqual([[], true]);
  });

  it("are gone after an abort", async () => {
    const { memory, left } = memoryIn("abort");
    const abort = new AbortController();
    function* aborting() {
      for (const table of side("a")) {
        if (left().length > 0) abort.abort(new Error("enough"));
        yield table;
      }
    }
    const call = { ...on(), memory, signal: abort.signal };
    await expect(join(aborting(), side("b"), call)).rejects.toThrow("enough");
    expect(left()).toEqual([]);
  });

  it("that find no room are one clear error", async () => {
    const { memory, left } = memoryIn("full");
    const files = fileModule("node:fs/promises");
    const { open } = files;
    let written = 0;
    vi.spyOn(files, "open").mockImplementation(async (...args) => {
      const file: FileHandle = await open(...args);
      const write = file.write.bind(file) as (...args: unknown[]) => Promise<unknown>;
      file.write = (async (...call: unknown[]) => {
        if (++written > 20) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write" });
        return write(...call);
      }) as never;
      return file;
    });
    await expect(join(side("a"), side("b"), { ...on(), memory })).rejects.toThrow(
      `${memory.folder}: no space is left on the device. Make room, or name a place with more of it.`,
    );
    expect(written).toBeGreaterThan(20);
    expect(left()).toEqual([]);
  });

  it("of processes that are no more are removed, of others not", async () => {
    const { memory, left } = memoryIn("leftovers");
    let own = "";
    for await (const _ of join(side("a"), side("b"), { ...on(), memory }).batches()) {
      own = left()[0];
      break;
    }
    const [, , machine, pid, start] = /^(warpmap-spill-)([0-9a-f]{8})-(\d+)-(\d+)-/.exec(own) ?? [];
    expect([Number(pid), machine.length]).toEqual([process.pid, 8]);
    const names = [
      `warpmap-spill-${machine}-${pid}-${start}-alive1`,
      `warpmap-spill-00000000-${2 ** 22 + 1}-1-other1`,
      "warpmap-spill-notes",
    ];
    const gone = [`warpmap-spill-${machine}-${2 ** 22 + 1}-1-killed`];
    if (process.platform === "linux") gone.push(`warpmap-spill-${machine}-${pid}-1${start}-reused`);
    for (const name of [...names, ...gone]) mkdirSync(joinPaths(memory.folder, name));
    await join(side("a"), side("b"), { ...on(), memory });
    expect(left().sort()).toEqual(names.sort());
    expect(existsSync(memory.folder)).toBe(true);
  });

  it("need a folder that is there", async () => {
    const { memory } = memoryIn("x");
    const folder = path("not there");
    const call = { ...on(), memory: { ...memory, folder } };
    await expect(join(side("a"), side("b"), call)).rejects.toThrow(`${folder}: no such file or directory.`);
  });
});
