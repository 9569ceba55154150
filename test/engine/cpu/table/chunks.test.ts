/** Where chunks of a batch end that is worked on alone. */
import { afterEach, expect, it, vi } from "vitest";
import { BLOCK } from "../../../../src/engine/cpu/table/blocks.js";
import { eachChunk } from "../../../../src/engine/cpu/table/chunks.js";

const LENGTH = 10 * BLOCK + 7;
const CHUNK = 4 * BLOCK;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Works on a batch of which a piece takes `pieceMs`; answers where its chunks ended, and the pieces. */
async function run(pieceMs: number, signal?: AbortSignal, onPiece = () => {}) {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const ends: number[] = [];
  const pieces: [number, number][] = [];
  const batch = { keys: [new Uint32Array(LENGTH)], where: null, length: LENGTH };
  const call = { signal, onProgress: (done: number) => void ends.push(done) };
  const working = eachChunk(batch, call, () => {}, CHUNK, {
    alone: ({ from, to }) => {
      pieces.push([from, to]);
      now += pieceMs;
      onPiece();
      return to;
    },
  });
  return { ends, pieces, working };
}

it("chunks have their length where they are fast", async () => {
  const { ends, pieces, working } = await run(1);
  await working;
  expect(ends).toEqual([CHUNK, 2 * CHUNK, LENGTH]);
  expect(pieces.map(([from]) => from)).toEqual(Array.from({ length: 11 }, (_, i) => i * BLOCK));
  expect(pieces.at(-1)).toEqual([10 * BLOCK, LENGTH]);
});

it("chunks that are slow end early, and a signal is heeded between them", async () => {
  const { ends, working } = await run(60);
  await working;
  expect(ends).toEqual([2, 4, 6, 8, 10].map((blocks) => blocks * BLOCK).concat(LENGTH));
  const stop = new AbortController();
  const stopped = await run(500, stop.signal, () => stop.abort());
  await expect(stopped.working).rejects.toThrow(/abort/i);
  expect(stopped.pieces).toEqual([[0, BLOCK]]);
});
