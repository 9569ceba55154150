// Inner joins whose columns go along with the keys of split sides, against a loop over a Map: keys and columns of one and two words, sides
// of any length, rows without a partner, columns that are gathered, chunks; and what is left to other ways.
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type DeviceColumn, destroyColumns } from "../../../../src/engine/device-columns.js";
import { RowRun } from "../../../../src/engine/gpu/groups/row-run.js";
import { joinColumns } from "../../../../src/engine/gpu/join/join-columns.js";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import type { Tuning } from "../../../../src/engine/gpu/tuning.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import { LimitError } from "../../../../src/errors.js";
import { rounds } from "../../../helpers/rounds.js";
import { weakCasSeen } from "../../webgpu/helpers/weak-cas.js";
import { onSmallParts, openGpu, sharedGpu } from "../helpers/open-gpu.js";

afterEach(() => {
  vi.restoreAllMocks();
});

type Engine = Awaited<ReturnType<typeof openGpu>>;

const mix = (n: number) => Math.imul(n + 1, 0x9e3779b1) >>> 0;
const rowsOf = <T>(rows: number, of: (row: number) => T) => Array.from({ length: rows }, (_, row) => of(row));

/** A side: keys of some words, each a list of them, and the widths in words of columns; 0 stands for the key itself. */
interface Side {
  readonly keys: readonly (readonly number[])[];
  readonly columns: readonly number[];
  /** Every so many values are null. */
  readonly nullEvery?: number;
}

/** Word k of a side's value, different for all rows, columns and sides. */
const wordOf = (seed: number, row: number, column: number, k: number) =>
  mix(row * 64 + column * 8 + k * 2 + seed);

async function uploaded(engine: Engine, { keys, columns, nullEvery }: Side, seed: number) {
  const width = keys[0]?.length ?? 1;
  const upload = (words: readonly number[]) => engine.upload("u32", Uint32Array.from(words));
  const key = await upload(keys.flat());
  const bits = rowsOf(Math.ceil(keys.length / 32), (word) =>
    rowsOf(32, (bit) => Number((word * 32 + bit) % (nullEvery ?? 1) > 0) << bit).reduce(
      (a, b) => (a | b) >>> 0,
      0,
    ),
  );
  const made: DeviceColumn[] = [];
  for (const [column, words] of columns.entries()) {
    if (words === 0) made.push({ values: { kind: "fixed", width: 4 * width, data: key }, validity: null });
    else {
      const data = await upload(
        rowsOf(keys.length * words, (i) => wordOf(seed, Math.floor(i / words), column, i % words)),
      );
      const validity = nullEvery === undefined ? null : await upload(bits);
      made.push({ values: { kind: "fixed", width: 4 * words, data }, validity });
    }
  }
  const column = { kind: "device words" as const, width, data: key, validity: null };
  return { side: { keys: { rows: keys.length, columns: [column] }, columns: made }, key };
}

/** Rows of values, each row as text. */
async function rowsIn(columns: readonly DeviceColumn[], rows: number): Promise<string[][]> {
  const texts: string[][] = rowsOf(rows, () => []);
  for (const { values, validity } of columns) {
    if (values?.kind !== "fixed") throw new Error("a column of no fixed width");
    const words = await values.data.read();
    const bits = await validity?.read();
    const width = values.width / 4;
    expect(words.length).toBe(rows * width);
    for (let row = 0; row < rows; row++) {
      const isNull = bits !== undefined && ((bits[row >>> 5] >>> (row % 32)) & 1) === 0;
      texts[row].push(isNull ? "null" : words.slice(row * width, (row + 1) * width).join());
    }
  }
  return texts;
}

function expectedOf(left: Side, right: Side): string[] {
  const rights = new Map<string, number[]>();
  for (const [row, key] of right.keys.entries())
    rights.set(key.join(), [...(rights.get(key.join()) ?? []), row]);
  const valuesOf = ({ keys, columns, nullEvery }: Side, seed: number, row: number) =>
    columns.map((words, column) => {
      if (words === 0) return keys[row].join();
      if (nullEvery !== undefined && row % nullEvery === 0) return "null";
      return rowsOf(words, (k) => wordOf(seed, row, column, k)).join();
    });
  return left.keys
    .flatMap((key, row) =>
      (rights.get(key.join()) ?? []).map((other) =>
        [...valuesOf(left, 0, row), ...valuesOf(right, 1, other)].join(" "),
      ),
    )
    .sort();
}

/** Joins, compares with the Map, and answers whether it went this way. */
async function isJoined(left: Side, right: Side, overrides: Tuning = {}): Promise<boolean> {
  const engine = await sharedGpu({ tuning: { partedJoin: { leastRows: 0, narrow: false }, ...overrides } });
  const [a, b] = [await uploaded(engine, left, 0), await uploaded(engine, right, 1)];
  const log = new PlanLog();
  log.begin();
  const joined = await joinColumns(engine.tableHost, a.side, b.side, { log });
  const { reason } = log.finish();
  if (joined) {
    const [lefts, rights] = [await rowsIn(joined.left, joined.rows), await rowsIn(joined.right, joined.rows)];
    const found = lefts.map((texts, row) => [...texts, ...rights[row]].join(" ")).sort();
    expect(found).toEqual(expectedOf(left, right));
    expect(reason).toMatch(/both sides are split by their keys/);
    destroyColumns([...joined.left, ...joined.right]);
  }
  a.key.destroy();
  b.key.destroy();
  return joined !== null;
}

const narrow = (row: number) => [mix(row)];
const wide = (row: number) => [mix(row), mix(row ^ 0x55555)];
const KEY = 0;

describe("columns that go along", () => {
  it.each<[string, (row: number) => number[], readonly number[], readonly number[]]>([
    ["a word a side", narrow, [KEY, 1], [1]],
    ["a word a side, keys of two words", wide, [KEY, 1], [1]],
    ["two words a side", narrow, [2, KEY], [2]],
    ["the key alone", narrow, [KEY], []],
    ["no key", narrow, [1], [1]],
    ["nothing of the left", narrow, [], [KEY, 1]],
    ["more of the build side, which is gathered", narrow, [KEY, 1], [1, 3, 2]],
    ["more of the build side, keys of two words", wide, [KEY, 1], [2]],
  ])("%s", async (_, key, lefts, rights) => {
    const left = { keys: rowsOf(3000, (row) => key(row % 1700)), columns: lefts };
    const right = { keys: rowsOf(1400, (row) => key(3000 - 2 * row)), columns: rights };
    expect(await isJoined(left, right)).toBe(true);
  });

  it("the left is the build side", async () => {
    const left = { keys: rowsOf(900, narrow), columns: [KEY, 1, 1] };
    const right = { keys: rowsOf(3000, (row) => narrow(row % 1300)), columns: [1] };
    expect(await isJoined(left, right)).toBe(true);
  });

  it("nulls of the build side", async () => {
    const left = { keys: rowsOf(2000, narrow), columns: [KEY, 1] };
    const right = { keys: rowsOf(900, narrow), columns: [1], nullEvery: 3 };
    expect(await isJoined(left, right)).toBe(true);
  });

  it("so many rows that a slot tells the key", async () => {
    const left = { keys: rowsOf(30_000, (row) => narrow(row % 27_000)), columns: [KEY, 1] };
    const right = { keys: rowsOf(20_000, (row) => narrow(30_000 - row)), columns: [1] };
    expect(await isJoined(left, right)).toBe(true);
  });

  it("no row has a partner", async () => {
    const left = { keys: rowsOf(900, narrow), columns: [KEY, 1] };
    const right = { keys: rowsOf(800, (row) => narrow(row + 900)), columns: [1] };
    expect(await isJoined(left, right)).toBe(true);
  });

  it("keys of every pattern", async () => {
    const keys = [0, 1, 0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff, 0xff].map((key) => [key]);
    expect(await isJoined({ keys, columns: [KEY, 1] }, { keys: keys.slice(1), columns: [1] })).toBe(true);
  });

  it("any rows", async () => {
    const aCase = fc.record({
      builds: fc.integer({ min: 1, max: 3000 }),
      probes: fc.integer({ min: 1, max: 7000 }),
      range: fc.constantFrom(1, 2, 5),
      key: fc.constantFrom(narrow, wide),
      columns: fc.constantFrom([KEY, 1], [1, KEY], [1], [KEY]),
      others: fc.constantFrom<number[]>([1], [], [2], [1, 1]),
      isSwapped: fc.boolean(),
    });
    const property = fc.asyncProperty(
      aCase,
      async ({ builds, probes, range, key, columns, others, isSwapped }) => {
        const build = { keys: rowsOf(builds, key), columns: others };
        const rows = Math.max(probes, builds + Number(isSwapped));
        const probe = { keys: rowsOf(rows, (row) => key(mix(row) % (range * builds))), columns };
        const joined = await isJoined(isSwapped ? build : probe, isSwapped ? probe : build);
        // of few keys parts are too uneven
        expect(joined || !onSmallParts || range * builds < 32).toBe(true);
      },
    );
    await fc.assert(property, { numRuns: rounds(8), seed: 1 });
  });

  it("chunks of 1,024 rows", async () => {
    vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
    const left = { keys: rowsOf(5000, narrow), columns: [KEY, 1] };
    expect(await isJoined(left, { keys: rowsOf(4000, narrow), columns: [1] })).toBe(true);
  });

  it("compare-exchanges that fail for no reason", async () => {
    const left = { keys: rowsOf(3000, narrow), columns: [KEY, 1] };
    const right = { keys: rowsOf(2500, narrow), columns: [1] };
    expect(await isJoined(left, right, { casSeen: weakCasSeen(60) })).toBe(true);
  });
});

describe("another way", () => {
  const left = { keys: rowsOf(2000, narrow), columns: [KEY, 1] };
  const right = { keys: rowsOf(1000, narrow), columns: [1] };

  it.each<[string, Side, Side]>([
    ["build rows that are equal", left, { keys: rowsOf(1000, (row) => narrow(row % 990)), columns: [1] }],
    ["columns of the longer side that do not go along", { ...left, columns: [KEY, 1, 1] }, right],
    ["nulls of the longer side", { ...left, nullEvery: 5 }, right],
    ["no rows of the longer side", { keys: [], columns: [KEY, 1] }, { keys: [], columns: [1] }],
  ])("%s", async (_, own, others) => {
    expect(await isJoined(own, others)).toBe(false);
  });

  it("one key with half of the longer side's rows", async () => {
    const keys = rowsOf(9000, (row) => narrow(row % 2 === 0 ? 1 : row));
    expect(await isJoined({ keys, columns: [KEY, 1] }, right)).toBe(false);
  });

  it("sides that are short", async () => {
    const partedJoin = { leastRows: 1001, narrow: false };
    expect(await isJoined(left, right, { partedJoin })).toBe(false);
  });

  it("little memory", async () => {
    vi.spyOn(RowRun.prototype, "range").mockRejectedValue(new LimitError("memory", 1, 0, "Use less."));
    expect(await isJoined(left, right)).toBe(false);
  });
});

describe("kernels", () => {
  const left = { keys: rowsOf(300, narrow), columns: [KEY, 1] };
  const right = { ...left, columns: [1] };

  it("are compiled side by side", async () => {
    const engine = await openGpu({ tuning: { partedJoin: { leastRows: 0, narrow: false } } });
    const { gpu } = engine.tableHost;
    const compile = gpu.compile.bind(gpu);
    const compiling = { now: 0, most: 0 };
    vi.spyOn(gpu, "compile").mockImplementation(async (...asked) => {
      compiling.most = Math.max(compiling.most, ++compiling.now);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return compile(...asked).finally(() => compiling.now--);
    });
    const [a, b] = [await uploaded(engine, left, 0), await uploaded(engine, right, 1)];
    const joined = await joinColumns(engine.tableHost, a.side, b.side, {});
    expect(joined?.rows).toBe(300);
    // a survey, a scan, two splits, and the join
    expect(compiling.most).toBeGreaterThan(4);
  });

  it("that do not compile fail the call", async () => {
    const engine = await openGpu({ tuning: { partedJoin: { leastRows: 0, narrow: false } } });
    vi.spyOn(engine.tableHost.gpu, "compile").mockRejectedValue(new Error("no kernel"));
    const [a, b] = [await uploaded(engine, left, 0), await uploaded(engine, right, 1)];
    await expect(joinColumns(engine.tableHost, a.side, b.side, {})).rejects.toThrow("no kernel");
  });
});
