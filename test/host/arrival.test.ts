/** Rows on their way into shared memory: what comes is what was there, piece by piece, and who waits is told of an end. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../src/engine/cpu/cpu-engine.js";
import { chooseLayout } from "../../src/engine/cpu/groups/key-layout.js";
import { arrivingColumns, keySide } from "../../src/engine/cpu/groups/side-columns.js";
import { Pace } from "../../src/engine/cpu/rows/pace.js";
import { ALL_BITS, RowRun } from "../../src/engine/cpu/rows/row-run.js";
import { rowThreads } from "../../src/engine/cpu/rows/row-threads.js";
import { ArrivingRows, bringAll } from "../../src/host/arrival.js";
import { isThere, newArrived } from "../../src/host/arrived.js";
import { Scratch } from "../../src/host/row-memory.js";

const rows = { chunk: 2 ** 12, slice: 2 ** 6, share: 2 ** 6, sortAbove: 2 ** 6 };
const pause = async () => {};

let engine: CpuEngine;
beforeAll(async () => {
  engine = (await openCpuEngine({ threads: 3, tuning: { rows } })) as CpuEngine;
});
afterAll(() => engine.destroy());

describe("rows that arrive", () => {
  const words = Uint32Array.from({ length: 80 }, (_, i) => i * 3);
  const bits = Uint8Array.from({ length: 10 }, (_, i) => i * 7);
  const texts = Array.from({ length: 80 }, (_, i) => "x".repeat(i % 5) + i);
  const edges = new Uint32Array(81);
  for (const [i, text] of texts.entries()) edges[i + 1] = edges[i] + text.length;
  const bytes = new TextEncoder().encode(texts.join(""));

  it.each([
    [0, 80],
    [16, 40],
    [64, 16],
  ])("are those from %d on, %d of them", (first, count) => {
    const memory = rowThreads(engine).memory(2 ** 20);
    const arriving = new ArrivingRows(memory, new Scratch(memory), first, count);
    const pairs = arriving.elements("pairs", words.subarray(0), 1);
    const validity = arriving.bits("validity", bits);
    const strings = arriving.strings("strings", edges, bytes);
    expect([pairs, validity, strings.edges, strings.bytes].map(({ buffer }) => buffer)).toSatisfy(
      (all: ArrayBufferLike[]) => all.every((buffer) => buffer instanceof SharedArrayBuffer),
    );
    for (let from = 0; from < count; from += 8) arriving.bring?.(from, from + 8);
    expect([...pairs]).toEqual([...words.subarray(first, first + count)]);
    expect([...validity]).toEqual([...bits.subarray(first / 8, (first + count) / 8)]);
    for (let row = 0; row < count; row++) {
      const text = strings.bytes.slice(strings.edges[row], strings.edges[row + 1]);
      expect(new TextDecoder().decode(text)).toBe(texts[first + row]);
    }
    memory.release();
  });

  it("are where they were when all threads reach them", () => {
    const memory = rowThreads(engine).memory(0);
    const arriving = new ArrivingRows(memory, new Scratch(memory), 8, 16);
    expect(arriving.elements("words", words).buffer).toBe(words.buffer);
    expect(arriving.bring).toBeNull();
  });
});

it("nobody waits for what will not come", async () => {
  const arrived = newArrived(3);
  const failing = (piece: number) => {
    if (piece === 1) throw new Error("gone");
  };
  await expect(bringAll(arrived, failing, pause)).rejects.toThrow("gone");
  expect([0, 1, 2].map((piece) => isThere(arrived, piece))).toEqual([false, false, false]);
});

it("a job whose rows stop coming ends, with workers that wait for them", async () => {
  const threads = rowThreads(engine);
  await engine.prepare();
  const count = 2 ** 12;
  const keys = {
    rows: count,
    columns: [{ kind: "words" as const, width: 2, data: new Uint32Array(2 * count), validity: null }],
  };
  const layout = chooseLayout(keys, keys, false);
  for (let round = 0; round < 20; round++) {
    const memory = threads.memory(count);
    const run = new RowRun(threads, memory, new Pace({}, count, () => {}), ALL_BITS);
    const side = keySide(keys, layout, memory);
    const sorted = {
      rows: count,
      sliceRows: rows.slice,
      bits: 1,
      stride: 4,
      exact: false,
      width: 2,
      bytes: [],
    };
    const to = { ...sorted, records: memory.words(4 * count), starts: memory.words(3 * run.slices(count)) };
    const sorting = run.overChunks(count, (first, number, scratch) => {
      const arriving = new ArrivingRows(memory, scratch, first, number);
      const columns = arrivingColumns(side, arriving);
      const key = { side: columns, rows: number, sliceRows: rows.slice, layout, hashing: run.hashing };
      const bring = (from: number, end: number) => {
        const until = performance.now() + 1; // workers begin meanwhile
        while (performance.now() < until);
        if (from >= 10 * rows.slice) throw new Error("gone");
        arriving.bring?.(from, end);
      };
      return { job: { kind: "sort", ...key, firstSlice: 0, to, values: [] }, bring };
    });
    await expect(sorting).rejects.toThrow("gone");
    memory.release();
  }
});
