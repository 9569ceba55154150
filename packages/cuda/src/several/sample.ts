/**
 * Hashes of some rows' keys, by which a call tells whether keys are hot or groups few. Rows are chosen by chance, each
 * by itself, some of them twice: neighbours of a table that is sorted, or that lies in clusters, have the same key far too often.
 */
import { asBytes, DeviceArray, type Range, type Scratch } from "warpmap/engine";
import { blocksFor } from "../table/table-state.js";
import { type Gpus, settled } from "./gpus.js";
import { inputOn, scratchOf } from "./inputs.js";
import { ownerKernels } from "./owner-kernels.js";
import { piecesOf, type Span, spansOf } from "./pieces.js";
import type { SeveralHost } from "./results.js";
import { hashedColumns, hashesOf, type KeyPart } from "./sorted-batch.js";

/** Rows for each GPU that are looked at. An estimate, not measured on several GPUs. */
const SAMPLED = 4096;

/** Hashes of some rows' keys, of each piece of the table as many as it has of all rows. */
export async function sampledRows(
  host: SeveralHost,
  rows: number,
  keys: readonly KeyPart[],
): Promise<Uint32Array> {
  const { gpus, seed } = host;
  const scratch = scratchOf(gpus);
  const most = SAMPLED * gpus.count;
  const ofSpan = async (span: Span, s: number): Promise<Uint32Array<ArrayBuffer>> => {
    const { gpu: runtime } = gpus.hosts[span.gpu];
    const chosen = chosenRows(span.count, Math.ceil((most * span.count) / rows), s);
    const columns = await settled(keys.map((key) => gathered(gpus, scratch[span.gpu], span, key, chosen)));
    const hashed = hashedColumns({ keys, seed }, columns);
    const hashes = new Uint32Array(chosen.length);
    const { buffer } = await hashesOf(gpus, { ...span, count: chosen.length }, scratch[span.gpu], hashed);
    await runtime.submit("sample", () => {}, [{ buffer, offset: 0, into: asBytes(hashes) }]);
    return hashes;
  };
  try {
    const samples = await settled(spansOfRows(gpus, rows, keys).map(ofSpan));
    const all = new Uint32Array(samples.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const sample of samples) {
      all.set(sample, at);
      at += sample.length;
    }
    return all;
  } finally {
    gpus.release(scratch);
  }
}

/** Where rows lie as a whole: as the first column of their keys that is in pieces. */
function spansOfRows(gpus: Gpus, rows: number, keys: readonly KeyPart[]): Span[] {
  const there = keys.find(({ column }) => column instanceof DeviceArray);
  if (!there) return spansOf(rows, 4, gpus.count, 0);
  const { column, each = 1 } = there;
  const spans = piecesOf(column as DeviceArray).map(({ gpu, first: start, array }) => {
    const first = Math.ceil(start / each);
    return { gpu, first, count: Math.floor((start + array.length) / each) - first };
  });
  return spans.filter(({ count }) => count > 0);
}

/** Numbers of some of so many rows, by chance; all of them where there are no more than `most`. The same at each call. */
export function chosenRows(rows: number, most = SAMPLED, seed = 0): Uint32Array<ArrayBuffer> {
  const chosen = new Uint32Array(Math.min(rows, most));
  let state = seed;
  for (let i = 0; i < chosen.length; i++) {
    // Numerical Recipes' generator
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    chosen[i] = rows <= most ? i : Math.floor((state / 2 ** 32) * rows);
  }
  return chosen;
}

const wordsOf = (rows: Uint32Array<ArrayBuffer>, each: number) =>
  each === 1
    ? rows
    : Uint32Array.from(
        { length: rows.length * each },
        (_, i) => rows[Math.floor(i / each)] * each + (i % each),
      );

/** A column's words of some rows of a span, on the span's GPU. */
async function gathered(
  gpus: Gpus,
  scratch: Scratch,
  span: Span,
  { column, each = 1 }: KeyPart,
  chosen: Uint32Array<ArrayBuffer>,
): Promise<Range> {
  const { gpu } = gpus.hosts[span.gpu];
  const words = wordsOf(chosen, each);
  const COUNT = words.length;
  const first = span.first * each;
  const to = { buffer: await scratch.buffer(4 * COUNT + 4) };
  if (!(column instanceof DeviceArray)) {
    const values = words.map((word) => (column as Uint32Array)[first + word]);
    gpu.write(to.buffer, 0, asBytes(values));
    return to;
  }
  const order = { buffer: await scratch.buffer(4 * COUNT + 4) };
  const from = await inputOn(gpus, scratch, "u32", column as DeviceArray<"u32">, {
    ...span,
    first,
    count: span.count * each,
  });
  const gather = await gpu.compile(ownerKernels.gather, {});
  gpu.write(order.buffer, 0, asBytes(words));
  await gpu.submit("sample", (recorder) =>
    recorder.dispatch(gather, { order, column: from, to }, { COUNT }, blocksFor(COUNT)),
  );
  return to;
}
