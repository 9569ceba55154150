// Groups and sums of the cpu engine beside a Map and bigints: few groups and many, keys of all forms, hostile floats.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import { openListFirsts } from "../../../../src/engine/cpu/groups/first-rows.js";
import { mixedWord } from "../../../../src/engine/cpu/groups/row-keys.js";
import { sumGroups } from "../../../../src/engine/cpu/groups/sum-groups.js";
import { ranksOf } from "../../../../src/engine/cpu/groups/sum-slices.js";
import type { SummedColumn } from "../../../../src/engine/group-sums.js";
import { keyingOf } from "../../../../src/engine/hash-seed.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import type { KeyColumn } from "../../../../src/engine/rows.js";
import { Sums } from "../../../../src/relational/aggregate/sums.js";
import { exactSum } from "../../../helpers/exact-sum.js";
import { covering } from "../../../helpers/rounds.js";

const ROWS = 20_001;
const random = (row: number) => {
  let x = Math.imul(row ^ (row >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
};

const engines: CpuEngine[] = [];
beforeAll(async () => {
  for (const threads of [1, 7]) engines.push((await openCpuEngine({ threads })) as CpuEngine);
  // several jobs, which go on with the groups of those before
  const rows = { chunk: 2 ** 13, slice: 2 ** 10, share: 2 ** 10, sortAbove: 2 ** 17 };
  engines.push((await openCpuEngine({ threads: 2, tuning: { rows } })) as CpuEngine);
});
afterAll(() => {
  for (const engine of engines) engine.destroy();
});

const bitmap = (rows: number, isValid: (row: number) => boolean) => {
  const bits = new Uint8Array((rows + 7) >>> 3);
  for (let row = 0; row < rows; row++) if (isValid(row)) bits[row >>> 3] |= 1 << (row & 7);
  return bits;
};
const valid = (validity: Uint8Array | null, row: number) =>
  validity === null || ((validity[row >>> 3] >>> (row & 7)) & 1) === 1;

type KeyMaker = (rows: number, keyAt: (row: number) => number) => KeyColumn[];
const words = (rows: number, keyAt: (row: number) => number): KeyColumn => ({
  kind: "words",
  width: 1,
  data: Uint32Array.from({ length: rows }, (_, row) => keyAt(row)),
  validity: null,
});
const strings = (rows: number, keyAt: (row: number) => number, text: (key: number) => string): KeyColumn => {
  const encoder = new TextEncoder();
  const parts = Array.from({ length: rows }, (_, row) => encoder.encode(text(keyAt(row))));
  const ends = new Uint32Array(rows);
  let end = 0;
  for (const [row, part] of parts.entries()) ends[row] = end += part.length;
  const starts = Uint32Array.from(ends, (stop, row) => stop - parts[row].length);
  return { kind: "bytes", starts, ends, bytes: new Uint8Array(Buffer.concat(parts)), validity: null };
};
const keyKinds: Record<string, KeyMaker> = {
  "one word, near": (rows, keyAt) => [words(rows, keyAt)],
  "one word, spread": (rows, keyAt) => [words(rows, (row) => random(keyAt(row) + 1))],
  "one word, negative": (rows, keyAt) => [words(rows, (row) => -5 - keyAt(row))],
  "two words and nulls": (rows, keyAt) => [
    { ...words(rows, (row) => random(keyAt(row))), validity: bitmap(rows, (row) => keyAt(row) % 5 !== 3) },
    words(rows, (row) => random(keyAt(row) >>> 1)),
  ],
  "short strings": (rows, keyAt) => [strings(rows, keyAt, (key) => `k${key}`)],
  "long strings": (rows, keyAt) => [strings(rows, keyAt, (key) => `${"long ".repeat(20)}${key}`)],
};

const spreads: Record<string, (row: number) => number> = {
  "one group": () => 0,
  "fifty groups": (row) => random(row) % 50,
  "9,000 groups": (row) => random(row) % 9000,
  "a group a row": (row) => row,
  "late groups": (row) => (row < 11_000 ? row % 3 : row),
};

const columnsOf = (rows: number): Record<string, SummedColumn> => ({
  rows: { kind: "rows", validity: null },
  u32: {
    kind: "words",
    data: Uint32Array.from({ length: rows }, (_, row) => random(row)),
    width: 1,
    signed: false,
    validity: null,
  },
  "not null": { kind: "rows", validity: bitmap(rows, (row) => row % 3 > 0) },
  "i64 with nulls": {
    kind: "words",
    data: Uint32Array.from({ length: 2 * rows }, (_, i) => random(i ^ 5)),
    width: 2,
    signed: true,
    validity: bitmap(rows, (row) => row % 7 > 1),
  },
  f64: {
    kind: "floats",
    data: Float64Array.from({ length: rows }, (_, row) => random(row) / 7e9 - 0.2),
    validity: null,
  },
  "least i32 with nulls": {
    kind: "extremes",
    data: Int32Array.from({ length: rows }, (_, row) => random(row) >> 20),
    ranks: null,
    sign: -1,
    validity: bitmap(rows, (row) => row % 5 > 1),
  },
  "greatest f64, NaN and zeros": {
    kind: "extremes",
    data: Float64Array.from({ length: rows }, (_, row) => [Number.NaN, -0, 0, 1e-9, -5][random(row) % 5]),
    ranks: null,
    sign: 1,
    validity: null,
  },
  "greatest rank of u16 codes": {
    kind: "extremes",
    data: Uint16Array.from({ length: rows }, (_, row) => random(row) % 1000),
    ranks: Uint32Array.from({ length: 1000 }, (_, code) => (code * 77) % 500),
    sign: 1,
    validity: bitmap(rows, (row) => row % 3 > 0),
  },
  "least f32, NaN and zeros": {
    kind: "extremes",
    data: Float32Array.from({ length: rows }, (_, row) => [Number.NaN, -0, 0, 1][random(row) % 4]),
    ranks: null,
    sign: -1,
    validity: null,
  },
  "f32 with nulls": {
    kind: "floats",
    data: Float32Array.from({ length: rows }, (_, row) => random(row) / 1e3),
    validity: bitmap(rows, (row) => row % 11 > 2),
  },
});
const hostileFloats = (rows: number) =>
  Float64Array.from(
    { length: rows },
    (_, row) => (random(row) - 2 ** 31) * 10 ** ((random(row ^ 9) % 590) - 300),
  );
const hostile = (rows: number): Record<string, SummedColumn> => ({
  "of all magnitudes": { kind: "floats", data: hostileFloats(rows), validity: null },
  odd: {
    kind: "floats",
    data: Float64Array.from({ length: rows }, (_, row) =>
      random(row) % 900 === 0 ? [Number.NaN, 1 / 0, -1 / 0][row % 3] : random(row) / 3,
    ),
    validity: bitmap(rows, (row) => row % 13 > 1),
  },
});

/** The row + 1 of the better of a row and another one + 1, which comes before it; 0 for none. NaN is above all. */
function betterRow(column: Extract<SummedColumn, { kind: "extremes" }>, row: number, best: number): number {
  if (best === 0) return row + 1;
  const { data, ranks } = column;
  const [value, other] = [row, best - 1].map((at) => (ranks === null ? data[at] : ranks[data[at]]));
  const isAbove = Number.isNaN(value) ? !Number.isNaN(other) : value > other;
  const isBelow = Number.isNaN(other) ? !Number.isNaN(value) : value < other;
  return (column.sign > 0 ? isAbove : isBelow) ? row + 1 : best;
}

/** The sums of a column by group, or of extremes their row + 1, as numbers. */
function modelOf(column: SummedColumn, groupOf: Uint32Array, groups: number): number[] {
  if (column.kind === "rows") {
    const counts = new Array<number>(groups).fill(0);
    for (const [row, group] of groupOf.entries()) if (valid(column.validity, row)) counts[group]++;
    return counts;
  }
  const sums = new Array<bigint>(groups).fill(0n);
  const floats = Array.from({ length: groups }, (): number[] => []);
  for (const [row, group] of groupOf.entries()) {
    if (!valid(column.validity, row)) continue;
    if (column.kind === "floats") floats[group].push(column.data[row]);
    else if (column.kind === "extremes") sums[group] = BigInt(betterRow(column, row, Number(sums[group])));
    else {
      let value = 0n;
      for (let k = 0; k < column.width; k++)
        value |= BigInt(column.data[row * column.width + k]) << BigInt(32 * k);
      sums[group] += column.signed ? BigInt.asIntN(32 * column.width, value) : value;
    }
  }
  return column.kind === "floats" ? floats.map(exactSum) : sums.map(Number);
}

interface Expected {
  readonly firsts: readonly number[];
  readonly groupOf: Uint32Array;
  /** Of each column. */
  readonly models: readonly number[][];
}

/** What is expected of columns, by what tells the key of a row: keys of all forms have the same groups. */
const expectedOf = new WeakMap<Record<string, SummedColumn>, Map<(row: number) => unknown, Expected>>();

function expected(
  columns: Record<string, SummedColumn>,
  keyAt: (row: number) => unknown,
  rows: number,
): Expected {
  const byKey = expectedOf.get(columns) ?? new Map<(row: number) => unknown, Expected>();
  expectedOf.set(columns, byKey);
  const before = byKey.get(keyAt);
  if (before) return before;
  const known = new Map<unknown, number>();
  const firsts: number[] = [];
  const groupOf = Uint32Array.from({ length: rows }, (_, row) => {
    const key = keyAt(row);
    const group = known.get(key) ?? known.size;
    if (group === known.size) firsts.push(row);
    known.set(key, group);
    return group;
  });
  const models = Object.values(columns).map((column) => modelOf(column, groupOf, firsts.length));
  byKey.set(keyAt, { firsts, groupOf, models });
  return { firsts, groupOf, models };
}

async function check(
  engines: readonly CpuEngine[],
  keys: KeyColumn[],
  keyAt: (row: number) => unknown,
  columns: Record<string, SummedColumn>,
  rows: number,
  { numbers = true, hashMask = 0xffffffff, rounded = false, alone = false } = {},
): Promise<void> {
  const names = Object.keys(columns);
  const { firsts, groupOf, models } = expected(columns, keyAt, rows);
  for (const engine of engines) {
    const call = { numbers, rounded, alone };
    const made = await sumGroups(engine, { rows, columns: keys }, Object.values(columns), call, hashMask);
    expect(made.firsts.length).toBe(firsts.length);
    expect(made.firsts.findIndex((row, group) => row !== firsts[group])).toBe(-1);
    if (numbers) expect(made.groupOf?.findIndex((group, row) => group !== groupOf[row])).toBe(-1);
    else expect(made.groupOf).toBeNull();
    for (const [c, name] of names.entries()) {
      const { rows: found } = made.columns[c];
      const sums = found ? null : Sums.of(made.columns[c], firsts.length);
      const rounds = sums?.toNumbers();
      const numberOf = (group: number) => Number(rounds ? rounds[group] : found?.[group]);
      const wrong = models[c].findIndex((sum, group) => !Object.is(sum + 0, numberOf(group) + 0));
      expect([name, wrong, models[c][wrong], wrong < 0 ? undefined : numberOf(wrong)]).toEqual([
        name,
        -1,
        undefined,
        undefined,
      ]);
    }
  }
}

const columns = columnsOf(ROWS);
const hostileColumns = { ...columns, ...hostile(ROWS) };

const spreadNames = Object.keys(spreads);
const kindNames = Object.keys(keyKinds);

describe.each(Object.entries(spreads))("%s", (spread, keyAt) => {
  it.each(Object.entries(keyKinds))("by keys of %s", async (kind, keysOf) => {
    const keys = keysOf(ROWS, keyAt);
    // a null is a key of its own, beside the other column's
    const own =
      kind === "two words and nulls"
        ? (row: number) => (keyAt(row) % 5 === 3 ? `null ${keyAt(row) >>> 1}` : String(keyAt(row)))
        : keyAt;
    // each spread, and each form of keys, on each engine
    const turn = spreadNames.indexOf(spread) + kindNames.indexOf(kind);
    const taken = covering(engines, (_, i) => i === turn % engines.length);
    await check(taken, keys, own, columns, ROWS);
  });

  it.each([false, true])("floats that no guessed grid holds (rounded: %s)", async (rounded) => {
    const options = { numbers: false, rounded };
    // each spread, and each way to round, on each engine
    const turn = spreadNames.indexOf(spread) + Number(rounded);
    const taken = covering(engines, (_, i) => i === turn % engines.length);
    await check(taken, [words(ROWS, keyAt)], keyAt, hostileColumns, ROWS, options);
    await check(taken, [words(ROWS, keyAt)], keyAt, columns, ROWS, options);
  });
});

it("rounds sums of floats of many groups while these are put in order", async () => {
  for (const engine of engines) {
    const { f64, rows } = columns;
    const keys = { rows: ROWS, columns: [words(ROWS, (row) => random(row))] };
    const made = await sumGroups(engine, keys, [rows, f64], { numbers: false, rounded: true });
    expect(made.columns[1].numbers).toBeInstanceOf(Float64Array);
  }
});

describe("of sorted keys, by one thread", () => {
  const rows = 2 ** 20 + 5; // sums are carried on once in between
  const near = { alone: true };
  const few = (row: number) => Math.floor(row / 1000);
  const wide = (upper: (row: number) => number): KeyColumn => {
    const data = Uint32Array.from({ length: 2 * ROWS }, (_, at) => (at & 1 ? upper(at >> 1) : at >> 2));
    return { kind: "words", width: 2, data, validity: null };
  };

  it("takes runs of rows", async () => {
    for (const keyAt of [few, (row: number) => row, (row: number) => row >>> 2]) {
      await check([engines[0], engines[2]], [words(ROWS, keyAt)], keyAt, hostileColumns, ROWS, near);
      const log = new PlanLog();
      const keys = { rows: ROWS, columns: [words(ROWS, keyAt)] };
      await sumGroups(engines[1], keys, Object.values(columns), { numbers: false, alone: true, log });
      expect(log.finish().reason).toBe("the keys are sorted");
    }
    const { u32, "i64 with nulls": i64 } = columnsOf(rows);
    await check(engines.slice(0, 1), [words(rows, few)], few, { u32, i64 }, rows, near);
  });

  it("takes runs of keys of two words, and no runs where only one word ascends", async () => {
    const half = (row: number) => row >> 1;
    await check(engines, [wide(() => 7)], half, columns, ROWS, near);
    await check(engines, [wide((row) => row >> 12)], half, columns, ROWS, near);
    await check(engines, [wide((row) => row & 2)], half, columns, ROWS, near);
  });
});

it("finds groups without values, and groups of no rows", async () => {
  await check(engines, [words(ROWS, (row) => row >>> 2)], (row) => row >>> 2, {}, ROWS);
  await check(engines, [words(0, () => 0)], () => 0, columnsOf(0), 0);
});

it("groups keys in some order, of more groups than a thread's cache has room for", async () => {
  const all = columnsOf(ROWS);
  const names = ["rows", "u32", "least i32 with nulls", "not null"];
  const group = (row: number) => (row % 11 === 0 ? 0 : row) >>> 1;
  const validity = bitmap(ROWS, (row) => row % 500 !== 7);
  const nullable = (row: number) => (valid(validity, row) ? group(row) : null);
  for (const name of names) {
    const columns = { [name]: all[name] };
    await check(engines, [words(ROWS, (row) => row >>> 1)], (row) => row >>> 1, columns, ROWS);
    await check(engines, [words(ROWS, (row) => -9 - (row >>> 1))], (row) => row >>> 1, columns, ROWS);
    await check(engines, [words(ROWS, (row) => 2 ** 32 - 5000 + group(row))], group, columns, ROWS);
    await check(engines, [{ ...words(ROWS, group), validity }], nullable, columns, ROWS);
  }
});

it("finds more groups than those of the first partitions tell of", async () => {
  const rows = 2 ** 20; // 128 partitions, of which the first four are empty
  for (const engine of engines) {
    const { multiplier, offset } = keyingOf(engine.hashSeed);
    const keys: number[] = [];
    for (let key = 0; keys.length < 20_000; key++)
      if (mixedWord((Math.imul(key, multiplier) + offset) | 0) >>> 25 >= 4) keys.push(key);
    const keyAt = (row: number) => keys[random(row) % keys.length];
    const columns: Record<string, SummedColumn> = { rows: { kind: "rows", validity: null } };
    await check([engine], [words(rows, keyAt)], keyAt, columns, rows);
  }
});

describe("first rows of keys that lie close together", () => {
  const cases: Record<string, KeyColumn[]> = {
    "two columns": [
      words(ROWS, (row) => random(row) % 150),
      words(ROWS, (row) => -7 - (random(row + 1) % 200)),
    ],
    "nulls in both": [
      { ...words(ROWS, (row) => random(row) % 150), validity: bitmap(ROWS, (row) => random(row) % 3 > 0) },
      { ...words(ROWS, (row) => random(row + 1) % 200), validity: bitmap(ROWS, (row) => row % 5 > 0) },
    ],
    "known to lie there, and keys that come again and again": [
      { ...words(ROWS, (row) => (row % 4 > 0 ? 3 : random(row) % 150)), below: 150 } as KeyColumn,
      words(ROWS, (row) => (row % 4 > 0 ? 0 : random(row + 1) % 200)),
    ],
  };

  it.each(Object.entries(cases))("%s", async (_, columns) => {
    const isNull = ({ validity }: KeyColumn, row: number) => !valid(validity, row);
    const firsts = new Map<string, number>();
    for (let row = 0; row < ROWS; row++) {
      const key = columns.map((column) =>
        isNull(column, row) ? "null" : (column as { data: Uint32Array }).data[row],
      );
      if (!firsts.has(key.join())) firsts.set(key.join(), row);
    }
    for (const engine of engines) {
      const log = new PlanLog();
      const made = await sumGroups(engine, { rows: ROWS, columns }, [], { numbers: false, log });
      expect(log.finish()).toMatchObject({ strategy: "direct", reason: "the keys lie close together" });
      expect(Array.from(made.firsts)).toEqual([...firsts.values()]);
    }
  });

  it("are listed again where two threads wrote at once and the later row stayed", () => {
    const keys = Uint32Array.of(0, 1, 0, 1, 2, 2);
    const job = {
      kind: "list firsts",
      keys,
      firstOf: Uint32Array.of(3, 2, 6),
      sliceRows: 4,
      listed: new Uint32Array(keys.length),
      counts: new Float64Array(2),
      isLate: new Int32Array(1),
    } as const;
    const list = () => {
      job.isLate[0] = 0;
      const { pieces, run } = openListFirsts(job);
      for (let piece = 0; piece < pieces; piece++) for (const _ of run(piece));
      return job.isLate[0];
    };
    expect(list()).toBe(1);
    expect(list()).toBe(0);
    expect([...job.counts]).toEqual([2, 1]);
    expect([job.listed[0], job.listed[1], job.listed[4]]).toEqual([0, 1, 4]);
  });
});

it("tells keys apart whose hashes are equal", async () => {
  const keyAt = (row: number) => row % 700;
  const columns = columnsOf(3000);
  for (const keysOf of Object.values(keyKinds).filter((_, i) => i !== 3)) {
    const keys = keysOf(3000, keyAt);
    for (const hashMask of [0, 3]) await check(engines.slice(0, 1), keys, keyAt, columns, 3000, { hashMask });
  }
});

it("copies no columns but floats to find their magnitudes", async () => {
  const rows = 2 ** 17;
  const wide = {
    kind: "words",
    data: new Uint32Array(8 * rows),
    width: 8,
    signed: true,
    validity: null,
  } as const;
  const peakOf = async (data: Float64Array) => {
    const engine = (await openCpuEngine({ threads: 2 })) as CpuEngine;
    const columns: SummedColumn[] = [{ kind: "floats", data, validity: null }, wide, wide, wide];
    await sumGroups(engine, { rows, columns: [words(rows, (row) => row % 3)] }, columns, { numbers: false });
    const { peak } = engine.host.memory.use;
    engine.destroy();
    return peak;
  };
  const added = (await peakOf(hostileFloats(rows))) - (await peakOf(new Float64Array(rows)));
  // those of a second pass over the rows
  expect(added).toBeLessThan(1.5 * 3 * wide.data.byteLength);
});

it("takes little memory beside the sorted rows where groups are many", async () => {
  const rows = 2 ** 20;
  const engine = (await openCpuEngine({ threads: 2 })) as CpuEngine;
  const keys = { rows, columns: [words(rows, (row) => Math.imul(row, 2654435761) >>> 0)] };
  const values = {
    kind: "words",
    data: new Uint32Array(rows),
    width: 1,
    signed: true,
    validity: null,
  } as const;
  await sumGroups(engine, keys, [values], { numbers: false });
  const { peak } = engine.host.memory.use;
  engine.destroy();
  // of each row: key, number and value as they arrive or sorted; of each group: its first row, and its sum as a number
  const [arriving, sorted, groups] = [2, 3, 1 + 2];
  expect(peak).toBeLessThan(1.3 * 4 * rows * (sorted + Math.max(arriving, 1.2 * groups)));
});

it("keeps one array for all lanes of zeros", async () => {
  const columns: SummedColumn[] = [{ kind: "floats", data: new Float64Array(ROWS).fill(1), validity: null }];
  const keys = { rows: ROWS, columns: [words(ROWS, (row) => row)] };
  for (const engine of engines) {
    const [{ sums }] = (await sumGroups(engine, keys, columns, { numbers: false })).columns;
    expect(new Set(sums[0].parts).size).toBe(2);
  }
});

it("stops when its signal says so", async () => {
  const reason = new Error("enough");
  for (const keyAt of [() => 1, (row: number) => row]) {
    const controller = new AbortController();
    const call = sumGroups(engines[1], { rows: ROWS, columns: [words(ROWS, keyAt)] }, [], {
      numbers: false,
      signal: controller.signal,
    });
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  }
});

it("tells of rows as done that are not gone over again, and of all at the end alone", async () => {
  for (const keyAt of [() => 1, (row: number) => Math.imul(row, 7 * 0x9e3779b1) >>> 0]) {
    const told: number[] = [];
    await sumGroups(engines[1], { rows: ROWS, columns: [words(ROWS, keyAt)] }, [], {
      numbers: false,
      onProgress: (done, total) => {
        expect(total).toBe(ROWS);
        told.push(done);
      },
    });
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.at(-1)).toBe(ROWS);
    if (keyAt(7) !== 1) expect(told.filter((done) => done === ROWS).length).toBe(1);
  }
});

describe("where WebAssembly is refused", () => {
  afterAll(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  it("JavaScript's loops make the same sums", async () => {
    const Module = vi.fn(function refuse() {
      throw new Error("refused by the policy");
    });
    vi.stubGlobal("WebAssembly", { Module });
    vi.resetModules();
    const path = "../../../../src/engine/cpu/groups/sum-groups.js";
    const { sumGroups: inJavaScript } = (await import(path)) as { sumGroups: typeof sumGroups };
    const columns = Object.values(hostileColumns);
    for (const keyAt of Object.values(spreads)) {
      // the first two are counted and added in one loop
      for (const summed of [columns, columns.slice(0, 5), columns.slice(0, 1)]) {
        const keys = { rows: ROWS, columns: [words(ROWS, keyAt)] };
        const expected = await sumGroups(null, keys, summed, { numbers: true });
        expect(await inJavaScript(null, keys, summed, { numbers: true })).toEqual(expected);
      }
    }
    expect(Module).toHaveBeenCalledOnce();
  });
});

it.each([
  [50, 20_000],
  [19, 20_000],
  [4, 20_000],
  [1, 1],
  [4000, 2 ** 32],
])("%s groups, in any order, of %s rows have the ranks of their first rows", (groups, rows) => {
  const last = Math.floor(rows / groups) - 1;
  const firsts = Uint32Array.from(
    { length: groups },
    (_, group) => group * (last + 1) + (random(group) % (last + 1)),
  );
  const sorted = firsts.slice();
  expect(ranksOf(firsts, groups, rows)).toBeNull();
  for (let i = groups - 1; i > 0; i--) {
    const other = random(i) % (i + 1);
    [firsts[i], firsts[other]] = [firsts[other], firsts[i]];
  }
  const ranks = groups === 1 ? [0] : ranksOf(firsts, groups, rows);
  for (const [group, rank] of (ranks as Uint32Array).entries()) expect(firsts[group]).toBe(sorted[rank]);
});
