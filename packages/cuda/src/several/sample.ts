/**
 * Hashes of some rows' keys, by which a call tells whether keys are hot or groups few. Rows are chosen by chance, each
 * by itself: neighbours of a table that is sorted, or that lies in clusters, have the same key far too often.
 */
import { asBytes, DeviceArray, type Scratch } from "warpmap/engine";
import { blocksFor } from "../table/table-state.js";
import { settled } from "./gpus.js";
import { inputOn, rangeOf } from "./inputs.js";
import { ownerKernels } from "./owner-kernels.js";
import { arrayOf, overlaps, type Piece, piecesOf, type Span, spansOf } from "./pieces.js";
import type { SeveralHost } from "./results.js";
import { hashedColumns, hashesOf, type KeyPart, scratchOf } from "./sorted-batch.js";

/** Rows of a GPU that are looked at. An estimate, not measured on several GPUs. */
const SAMPLED = 4096;

/** Hashes of some rows' keys, as many of each GPU. */
export async function sampledRows(
  host: SeveralHost,
  rows: number,
  keys: readonly KeyPart[],
): Promise<Uint32Array> {
  const { gpus, seed } = host;
  const scratch = scratchOf(gpus);
  const ofGpu = async ({ gpu, first, count }: Span): Promise<Uint32Array<ArrayBuffer>> => {
    const chosen = chosenRows(count, gpu).map((row) => first + row);
    const span = { gpu, first: 0, count: chosen.length };
    const columns = await settled(
      keys.map(async ({ column, each = 1 }) => {
        const words = wordsOf(chosen, each);
        const values =
          column instanceof DeviceArray
            ? await gathered(host, scratch, column as DeviceArray<"u32">, words)
            : words.map((word) => (column as Uint32Array)[word]);
        return inputOn(gpus, scratch[gpu], "u32", values, { ...span, count: words.length });
      }),
    );
    const hashed = hashedColumns({ keys, seed }, columns);
    const { buffer } = await hashesOf(gpus, span, scratch[gpu], hashed);
    const hashes = new Uint32Array(span.count);
    await gpus.hosts[gpu].gpu.submit("sample", () => {}, [{ buffer, offset: 0, into: asBytes(hashes) }]);
    return hashes;
  };
  try {
    const samples = await settled(spansOf(rows, 4, gpus.count, 0).map(ofGpu));
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

/** Rows of so many, ascending, each at most once; the same at each call. */
export function chosenRows(rows: number, seed = 0): Uint32Array<ArrayBuffer> {
  if (rows <= SAMPLED) return Uint32Array.from({ length: rows }, (_, row) => row);
  let state = seed;
  const chosen = new Set<number>();
  while (chosen.size < SAMPLED) {
    // Numerical Recipes' generator
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    chosen.add(Math.floor((state / 2 ** 32) * rows));
  }
  return Uint32Array.from(chosen).sort();
}

/** The words of some rows. */
const wordsOf = (rows: Uint32Array<ArrayBuffer>, each: number) =>
  each === 1
    ? rows
    : Uint32Array.from(
        { length: rows.length * each },
        (_, i) => rows[Math.floor(i / each)] * each + (i % each),
      );

/** Some words of an array, ascending, gathered by the GPUs that have them. */
async function gathered(
  { gpus, engine }: SeveralHost,
  scratch: readonly Scratch[],
  array: DeviceArray<"u32">,
  words: Uint32Array,
): Promise<DeviceArray<"u32">> {
  const pieces = await settled(
    overlaps(piecesOf(array), 0, array.length).map(async (piece): Promise<Piece<"u32">> => {
      const { gpu: runtime } = gpus.hosts[piece.gpu];
      const first = firstFrom(words, piece.first);
      const own = words.slice(first, firstFrom(words, piece.first + piece.to));
      const places = own.map((word) => word - piece.first);
      const COUNT = places.length;
      const [order, to] = await settled([0, 1].map(() => scratch[piece.gpu].buffer(4 * COUNT + 4)));
      const gather = await runtime.compile(ownerKernels.gather, {});
      runtime.write(order, 0, asBytes(places));
      const bindings = { order: { buffer: order }, column: rangeOf(piece.array), to: { buffer: to } };
      if (COUNT > 0)
        await runtime.submit("sample", (recorder) =>
          recorder.dispatch(gather, bindings, { COUNT }, blocksFor(COUNT)),
        );
      return { gpu: piece.gpu, first, array: gpus.view(piece.gpu, "u32", COUNT, { buffer: to }) };
    }),
  );
  return arrayOf(engine, "u32", pieces);
}

/** How many of ascending numbers are below a bound. */
function firstFrom(numbers: Uint32Array, bound: number): number {
  let [from, until] = [0, numbers.length];
  while (from < until) {
    const middle = (from + until) >>> 1;
    if (numbers[middle] < bound) from = middle + 1;
    else until = middle;
  }
  return from;
}
