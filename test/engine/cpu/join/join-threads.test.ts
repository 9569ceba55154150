/**
 * Joins and gathers on several threads beside one, with sizes so small that workers really take part, and joins whose
 * worker dies.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CodedBytes } from "../../../../src/engine/coded-bytes.js";
import { type CpuEngine, openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import { joinRows } from "../../../../src/engine/cpu/join/join-rows.js";
import { indexRows } from "../../../../src/engine/cpu/join/row-index.js";
import { ROW_JOBS, rowThreads } from "../../../../src/engine/cpu/rows/row-threads.js";
import { murmur3 } from "../../../../src/engine/hash.js";
import { JOIN_KINDS, segmentsOf } from "../../../../src/engine/join-kinds.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import type { RowOperations } from "../../../../src/engine/row-operations.js";
import type { ByteColumn, KeyColumn, RowKeys, WordColumn } from "../../../../src/engine/rows.js";
import { gather } from "../../../../src/host/gather.js";
import { type GatherTask, gatherBuffers } from "../../../../src/host/gather-buffers.js";
import { rowMarker } from "../../../../src/host/mark-rows.js";
import { countWorkers, type WorkerCount } from "../../../helpers/count-workers.js";
import { covering } from "../../../helpers/rounds.js";
import { runProgram } from "../../../helpers/run-program.js";

const PROBE_ROWS = 26_000;
const BUILD_ROWS = 18_000;
const HERE = { nullsEqual: false, output: "host" } as const;
const rows = { chunk: 2 ** 13, slice: 2 ** 10, share: 2 ** 9, sortAbove: 2 ** 11 };
const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

let together: CpuEngine;
let operations: RowOperations;
let workers: WorkerCount;

beforeAll(async () => {
  together = (await openCpuEngine({ threads: 3, tuning: { rows } })) as CpuEngine;
  operations = await together.rows();
  workers = await countWorkers(together.host, ROW_JOBS);
});
afterAll(() => {
  workers.expectSome();
  together.destroy();
});

function random(row: number, below: number, seed: number): number {
  return Math.floor((murmur3(seed * 0x1000193 + row) / 2 ** 32) * below);
}

/** A seventh of the rows, or none. */
function nulls(count: number, some: boolean): Uint8Array | null {
  return some ? Uint8Array.from({ length: (count + 7) >> 3 }, (_, i) => 0xff ^ (1 << (i % 8))) : null;
}

function words(count: number, width: number, key: (row: number) => number, some = false): WordColumn {
  const data = new Uint32Array(count * width);
  for (let i = 0; i < data.length; i++) data[i] = murmur3(key(Math.floor(i / width))) ^ (i % width);
  return { kind: "words", width, data, validity: nulls(count, some) };
}

function strings(count: number, text: (row: number) => string, some = false): ByteColumn {
  const encoded = Array.from({ length: count }, (_, row) => new TextEncoder().encode(text(row)));
  const edges = new Uint32Array(count + 1);
  for (let row = 0; row < count; row++) edges[row + 1] = edges[row] + encoded[row].length;
  const bytes = new Uint8Array(edges[count]);
  for (const [row, each] of encoded.entries()) bytes.set(each, edges[row]);
  return {
    kind: "bytes",
    starts: edges.subarray(0, count),
    ends: edges.subarray(1),
    bytes,
    validity: nulls(count, some),
  };
}

type Shape = (count: number, seed: number) => KeyColumn[];
const anyOf = (different: number, seed: number) => (row: number) => random(row, different, seed);

const shapes: Record<string, Shape> = {
  "integers, mostly different": (n, seed) => [words(n, 1, anyOf(10 * n, seed))],
  "integers, each a few times": (n, seed) => [words(n, 1, anyOf(9000, seed))],
  "integers close together": (n, seed) => [
    { ...words(n, 1, () => 0), data: Uint32Array.from({ length: n }, (_, row) => random(row, n, seed)) },
  ],
  "integers with nulls": (n, seed) => [words(n, 1, anyOf(9000, seed), true)],
  "wide integers with nulls": (n, seed) => [words(n, 2, anyOf(9000, seed), true)],
  "very wide integers": (n, seed) => [words(n, 8, anyOf(9000, seed))],
  "short strings": (n, seed) => [strings(n, (row) => anyOf(9000, seed)(row).toString(36), true)],
  "long strings": (n, seed) => [strings(n, (row) => `${"prefix ".repeat(10)}${anyOf(9000, seed)(row)}`)],
  "strings of all lengths and numbers": (n, seed) => [
    strings(n, (row) => "ab".repeat(random(row, 50, 9)) + anyOf(300, seed)(row), true),
    words(n, 1, anyOf(30, seed + 1), true),
  ],
  "a dictionary's codes": (n, seed) => [
    new CodedBytes(
      strings(500, (k) => `name ${k % 400}`),
      Uint16Array.from({ length: n }, (_, row) => random(row, 500, seed)),
      nulls(n, true),
    ),
  ],
};

async function expectSame(left: RowKeys, right: RowKeys, nullsEqual: boolean, hashMask?: number) {
  const expected = await joinRows(left, right, { nullsEqual }, hashMask);
  const actual = await joinRows(left, right, { nullsEqual }, hashMask, rowThreads(together));
  expect(actual.left.length).toBe(expected.left.length);
  // the same pairs in the same order
  expect(Buffer.compare(bytes(actual.left), bytes(expected.left))).toBe(0);
  expect(Buffer.compare(bytes(actual.right), bytes(expected.right))).toBe(0);
  actual.release?.();
  return expected.left.length;
}

/** Pairs of an index that threads filled together, beside those of one that a thread filled alone. */
async function expectSameIndex(probe: RowKeys, build: RowKeys, nullsEqual: boolean, hashMask?: number) {
  const all = [];
  for (const threads of [undefined, rowThreads(together)]) {
    const index = await indexRows(build, { nullsEqual }, hashMask, threads);
    all.push(await index.pairs(probe, "left", "inner", {}));
    index.destroy();
  }
  const [expected, actual] = all;
  expect(Buffer.compare(bytes(actual.left), bytes(expected.left))).toBe(0);
  expect(Buffer.compare(bytes(actual.right), bytes(expected.right))).toBe(0);
  for (const pairs of all) pairs.release?.();
  return expected.left.length;
}

function bytes(array: Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

it("a join with more pairs than memory holds says what to do about the join", async () => {
  const side: RowKeys = { rows: 5000, columns: [words(5000, 1, () => 1)] };
  const limit = vi.spyOn(process, "constrainedMemory").mockReturnValue(1);
  try {
    await expect(operations.match(side, side, "inner", HERE)).rejects.toMatchObject({
      code: "LIMIT",
      limit: "memory",
      need: 4 * 5000 ** 2,
      fix: "Join on more columns, or join fewer rows at a time.",
    });
  } finally {
    limit.mockRestore();
  }
});

describe("joins on several threads give the pairs of one, in the same order", () => {
  for (const [name, shape] of Object.entries(shapes)) {
    it.each([
      ["a large build side", BUILD_ROWS],
      ["a small build side", 1500],
    ])(`${name}, %s`, async (_, buildRows) => {
      const large = { rows: PROBE_ROWS, columns: shape(PROBE_ROWS, 1) };
      const small = { rows: buildRows, columns: shape(buildRows, 2) };
      const hasNulls = large.columns.some(({ validity }) => validity !== null);
      for (const nullsEqual of covering([false, true], (equal) => hasNulls || !equal)) {
        await expectSame(large, small, nullsEqual);
        await expectSame(small, large, nullsEqual);
      }
    });
  }

  it("keys that lie close together, which four threads sort unless the other side is much longer", async () => {
    const sides = (buildRows: number) =>
      [PROBE_ROWS, buildRows].map((count, i) => ({
        rows: count,
        columns: shapes["integers close together"](count, i),
      }));
    for (const [threads, buildRows, strategy] of [
      [3, BUILD_ROWS, "direct"],
      [4, BUILD_ROWS, "partitioned"],
      [4, PROBE_ROWS / 5, "direct"],
    ] as const) {
      const engine = (await openCpuEngine({ threads, tuning: { rows } })) as CpuEngine;
      const log = new PlanLog();
      const [left, right] = sides(buildRows);
      const made = await joinRows(left, right, { ...HERE, log }, undefined, rowThreads(engine));
      const expected = await joinRows(left, right, HERE);
      expect(log.finish().strategy, `${threads} threads`).toBe(strategy);
      expect(Buffer.compare(bytes(made.left), bytes(expected.left))).toBe(0);
      expect(Buffer.compare(bytes(made.right), bytes(expected.right))).toBe(0);
      engine.destroy();
    }
  });

  it("all keys equal", async () => {
    for (const width of [1, 2]) {
      const side = (count: number) => ({ rows: count, columns: [words(count, width, () => 7)] });
      expect(await expectSame(side(3000), side(2100), false)).toBe(3000 * 2100);
      expect(await expectSame(side(PROBE_ROWS), side(20), false)).toBe(PROBE_ROWS * 20);
    }
  });

  it("one key in half of the rows", async () => {
    const side = (count: number, seed: number) => ({
      rows: count,
      columns: [words(count, 1, (row) => (row % 2 ? 5 : random(row, 1e6, seed)))],
    });
    expect(await expectSame(side(4000, 1), side(2500, 2), false)).toBeGreaterThanOrEqual(2000 * 1250);
  });

  it("hashes that collide, all of them", async () => {
    const side = (count: number, seed: number) => ({
      rows: count,
      columns: [words(count, 2, anyOf(4000, seed))],
    });
    await expectSame(side(5000, 1), side(3000, 2), false, 0);
    await expectSame(side(PROBE_ROWS, 1), side(BUILD_ROWS, 2), false, 0xff000000);
  });

  it("no rows on one side, and no matches", async () => {
    const none = { rows: 0, columns: [words(0, 1, () => 0)] };
    const some = { rows: PROBE_ROWS, columns: [words(PROBE_ROWS, 1, (row) => row)] };
    const others = { rows: BUILD_ROWS, columns: [words(BUILD_ROWS, 1, (row) => row + 1e6)] };
    expect(await expectSame(none, some, false)).toBe(0);
    expect(await expectSame(some, none, false)).toBe(0);
    expect(await expectSame(some, others, false)).toBe(0);
  });

  it("two joins at once", async () => {
    const side = (count: number, seed: number) => ({
      rows: count,
      columns: [words(count, 1, anyOf(9000, seed))],
    });
    await Promise.all([1, 2].map((seed) => expectSame(side(PROBE_ROWS, seed), side(BUILD_ROWS, 3), false)));
  });
});

describe("an index that several threads fill gives the pairs of one that a thread fills", () => {
  it.each(Object.entries(shapes))("%s", async (_, shape) => {
    const probe = { rows: PROBE_ROWS, columns: shape(PROBE_ROWS, 1) };
    const build = { rows: BUILD_ROWS, columns: shape(BUILD_ROWS, 2) };
    const hasNulls = probe.columns.some(({ validity }) => validity !== null);
    for (const nullsEqual of covering([false, true], (equal) => hasNulls || !equal))
      expect(await expectSameIndex(probe, build, nullsEqual)).toBeGreaterThan(0);
  });

  it("keys that a region of slots has no room for", async () => {
    for (const width of [1, 2]) {
      const side = (count: number, seed: number) => ({
        rows: count,
        columns: [words(count, width, anyOf(9000, seed))],
      });
      // homes of one region, which has fewer slots than there are keys; eight slots in a row that are home to all
      for (const hashMask of [0xfff, 7])
        await expectSameIndex(side(PROBE_ROWS, 1), side(BUILD_ROWS, 2), false, hashMask);
    }
  });

  it("all keys equal", async () => {
    const side = (count: number) => ({ rows: count, columns: [words(count, 2, () => 7)] });
    expect(await expectSameIndex(side(20), side(BUILD_ROWS), false)).toBe(20 * BUILD_ROWS);
  });

  it("stops at a signal", async () => {
    const side = { rows: BUILD_ROWS, columns: [words(BUILD_ROWS, 2, anyOf(9000, 1))] };
    const stop = new AbortController();
    const { signal } = stop;
    const index = indexRows(side, { nullsEqual: false, signal }, undefined, rowThreads(together));
    stop.abort();
    await expect(index).rejects.toBe(signal.reason);
  });
});

describe("gathers on several threads", () => {
  it("give the buffers of one", async () => {
    const keys = { rows: PROBE_ROWS, columns: [words(PROBE_ROWS, 1, anyOf(900, 1))] };
    const dimension = { rows: 1000, columns: [words(1000, 1, (row) => row % 900)] };
    const pairs = await operations.match(keys, dimension, "inner", HERE);
    const data = (length: number) => Uint8Array.from({ length }, (_, i) => random(i, 256, 4));
    const text = strings(1001, (row) => "x".repeat(row % 40) + row);
    const offsets = Uint32Array.of(0, ...text.ends);
    const sources: GatherTask["source"][] = [
      ...[1, 2, 4, 8, 12, 5].map((width) => ({ kind: "fixed", data: data(1000 * width), width }) as const),
      { kind: "bits", bits: data(125) },
      { kind: "strings", offsets, bytes: text.bytes, most: 2 ** 31 - 1 },
      { kind: "strings", offsets: offsets.subarray(1), bytes: text.bytes, most: 2 ** 31 - 1 },
    ];
    const tasks = sources.map((source) => ({ source, rows: pairs.right }));
    // the source of these is larger than what is taken from it
    const few = pairs.right.subarray(0, 900);
    tasks.push({ source: { kind: "fixed", data: data(4 * 2000), width: 4 }, rows: few });
    const made = await gather(together.host, tasks, pause);
    for (const [i, task] of tasks.entries()) {
      expect(made[i].length).toBe(gatherBuffers(task).length);
      for (const [k, buffer] of gatherBuffers(task).entries()) {
        expect(made[i][k]).toBeInstanceOf(ArrayBuffer);
        expect(Buffer.compare(new Uint8Array(made[i][k]), new Uint8Array(buffer))).toBe(0);
      }
    }
  });

  it("reject with the limit that one would meet", async () => {
    const keys = { rows: PROBE_ROWS, columns: [words(PROBE_ROWS, 1, anyOf(900, 1))] };
    const pairs = await operations.match(keys, keys, "inner", HERE);
    const source = { kind: "strings", offsets: Uint32Array.of(0, 5), bytes: new Uint8Array(5) } as const;
    const rows = pairs.left.fill(0);
    const tasks = [100, 2 ** 31 - 1].map((most) => ({ source: { ...source, most }, rows }));
    await expect(gather(together.host, tasks, pause)).rejects.toMatchObject({ limit: "bytes", have: 100 });
  });
});

describe("stopping", () => {
  const side = { rows: PROBE_ROWS, columns: [words(PROBE_ROWS, 1, (row) => row)] };

  it("a signal stops a join between chunks, and the next join works", async () => {
    const reason = new Error("enough");
    const abort = new AbortController();
    const call = operations.match(side, side, "inner", {
      ...HERE,
      signal: abort.signal,
      onProgress: () => abort.abort(reason),
    });
    await expect(call).rejects.toBe(reason);
    expect((await operations.match(side, side, "inner", HERE)).left.length).toBe(PROBE_ROWS);
  });

  it("destroying the engine stops a join", async () => {
    const engine = (await openCpuEngine({ threads: 2, tuning: { rows } })) as CpuEngine;
    const call = (await engine.rows()).match(side, side, "inner", {
      ...HERE,
      onProgress: () => engine.destroy(),
    });
    await expect(call).rejects.toMatchObject({ code: "DEVICE_LOST" });
  });

  it("a process ends by itself when a worker came too late for all jobs", async () => {
    // the calling thread is done with so few keys before the worker has started
    const { status, stdout } = await runProgram(`import { openDevice, StaticSet } from "warpmap";
      const device = await openDevice({ backend: "cpu", threads: 2 });
      const set = await StaticSet.create(device, { key: "u32", capacity: 100 });
      const { inserted } = await set.insert(Uint32Array.of(1, 2, 3), { strategy: "partitioned" });
      console.log(inserted);`);
    expect([status, stdout.trim()]).toEqual([0, "3"]);
  });

  it("a process ends by itself after a join on several threads", async () => {
    const { status, stdout } = await runProgram(`import { openDevice } from "warpmap";
      import { join } from "warpmap/relational";
      import { tableFromArrays } from "@uwdata/flechette";
      const n = 1 << 18;
      const key = Uint32Array.from({ length: n }, (_, i) => Math.imul(i, 0x9e3779b1));
      const device = await openDevice({ backend: "cpu", threads: 2 });
      const table = tableFromArrays({ key, value: key });
      console.log((await join(table, table, { on: ["key"], device })).numRows);`);
    expect([status, stdout.trim()]).toEqual([0, String(2 ** 18)]);
  });
});

it("rows that no pair has are those that one thread finds", async () => {
  const count = { left: 50_000, right: 3000 };
  const shared = (length: number, row: (i: number) => number) => {
    const numbers = new Uint32Array(new SharedArrayBuffer(4 * length));
    for (let i = 0; i < length; i++) numbers[i] = row(i);
    return numbers;
  };
  const left = shared(100_000, (i) => random(i, random(i, count.left, 3) + 1, 1));
  const right = shared(100_000, (i) => random(i, count.right - 50, 2));
  for (const how of JOIN_KINDS) {
    const alone = await segmentsOf(how, { left, right }, count, rowMarker(null, pause));
    const shares = await segmentsOf(how, { left, right }, count, rowMarker(together.host, pause));
    expect(shares).toEqual(alone);
  }
});
