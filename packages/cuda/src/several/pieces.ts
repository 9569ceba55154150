/**
 * Device arrays in pieces: equal ones on all GPUs, or where that is not worth it one on the first. Results of tables
 * may have pieces of any lengths.
 */
import {
  type ArrayStorage,
  allocateUnfilled,
  type ColumnInput,
  DeviceArray,
  type Engine,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
} from "warpmap/engine";
import { settled } from "./gpus.js";

/** Bytes of an array below which it lies on one GPU. */
const SPREAD_BYTES = 2 ** 22;
/** Pieces begin at multiples of so many elements. */
const STEP = 1024;

/** Elements of an array on one GPU. */
export interface Piece<T extends ScalarType = ScalarType> {
  /** Of the device's GPUs, from 0 on. */
  readonly gpu: number;
  /** The number of its first element. */
  readonly first: number;
  /** Of that GPU's engine. */
  readonly array: DeviceArray<T>;
}

/** A range of a batch on one GPU. */
export interface Span {
  readonly gpu: number;
  readonly first: number;
  readonly count: number;
}

/** How an array of so many elements is cut. @param least bytes of an array that is cut at all */
export function spansOf(length: number, bytes: number, gpus: number, least = SPREAD_BYTES): Span[] {
  if (length * bytes < least) return [{ gpu: 0, first: 0, count: length }];
  const step = Math.ceil(length / gpus / STEP) * STEP;
  return Array.from({ length: gpus }, (_, gpu) => {
    const first = Math.min(gpu * step, length);
    return { gpu, first, count: Math.min(step, length - first) };
  }).filter(({ count }) => count > 0);
}

/** Ranges of a batch in rounds of about as many elements, at most so many of a GPU in each. */
export function cutSpans(spans: readonly Span[], most: number): Span[][] {
  const longest = Math.max(0, ...spans.map(({ count }) => count));
  const rounds = Math.max(1, Math.ceil(longest / most));
  const step = Math.min(most, Math.ceil(longest / rounds / STEP) * STEP);
  if (longest === 0) return [];
  return Array.from({ length: Math.ceil(longest / step) }, (_, round) =>
    spans
      .filter(({ count }) => round * step < count)
      .map(({ gpu, first, count }) => ({
        gpu,
        first: first + round * step,
        count: Math.min(step, count - round * step),
      })),
  );
}

class Pieces<T extends ScalarType> implements ArrayStorage<T> {
  constructor(
    private readonly type: T,
    readonly pieces: readonly Piece<T>[],
  ) {}

  async read(start: number, end: number): Promise<ScalarArrays[T]> {
    const parts = overlaps(this.pieces, start, end);
    if (parts.length === 1) return parts[0].array.read(parts[0].from, parts[0].to);
    const all = allocateUnfilled(this.type, end - start);
    await settled(
      parts.map(async ({ array, from, to, first }) =>
        all.set((await array.read(from, to)) as never, first + from - start),
      ),
    );
    return all;
  }

  async write(data: ScalarArrays[T], start: number): Promise<void> {
    const parts = overlaps(this.pieces, start, start + data.length);
    await settled(
      parts.map(({ array, from, to, first }) =>
        array.write(data.subarray(first + from - start, first + to - start) as ScalarArrays[T], from),
      ),
    );
  }

  destroy(): void {
    for (const { array } of this.pieces) array.destroy();
  }
}

/** The pieces with elements of a range, and which of their own those are; at least one piece. */
export function overlaps<T extends ScalarType>(pieces: readonly Piece<T>[], start: number, end: number) {
  const parts = pieces.map(({ gpu, first, array }) => ({
    gpu,
    first,
    array,
    from: Math.max(start - first, 0),
    to: Math.min(end - first, array.length),
  }));
  const inside = parts.filter(({ from, to }) => from < to);
  return inside.length > 0 ? inside : [{ ...parts[0], from: 0, to: 0 }];
}

/** An array of pieces, one at least. It owns them. */
export function arrayOf<T extends ScalarType>(
  engine: Engine,
  type: T,
  pieces: readonly Piece<T>[],
): DeviceArray<T> {
  const length = pieces.reduce((sum, { array }) => sum + array.length, 0);
  return DeviceArray.of(engine, type, length, new Pieces(type, pieces));
}

export function arrayOn<T extends ScalarType>(
  engine: Engine,
  gpu: number,
  array: DeviceArray<T>,
): DeviceArray<T> {
  return arrayOf(engine, array.type, [{ gpu, first: 0, array }]);
}

export const piecesOf = <T extends ScalarType>({ storage }: DeviceArray<T>): readonly Piece<T>[] =>
  (storage as Pieces<T>).pieces;

export function isOnFirstGpu(array: DeviceArray): boolean {
  const pieces = piecesOf(array);
  return pieces.length === 1 && pieces[0].gpu === 0;
}

/** A new array, whose pieces `make` makes. What was made is given up when one fails. */
export async function cutArray<T extends ScalarType>(
  engine: Engine,
  type: T,
  spans: readonly Span[],
  make: (span: Span) => Promise<DeviceArray<T>>,
): Promise<DeviceArray<T>> {
  const pieces: Piece<T>[] = [];
  try {
    await settled(
      spans.map(async (span) => pieces.push({ gpu: span.gpu, first: span.first, array: await make(span) })),
    );
  } catch (error) {
    for (const { array } of pieces) array.destroy();
    throw error;
  }
  return arrayOf(
    engine,
    type,
    pieces.sort((a, b) => a.first - b.first),
  );
}

/** Who has which elements of a batch: as its first column in pieces, or as an array of a type would be cut. */
export function spansOfBatch(
  columns: readonly ColumnInput[],
  type: ScalarType,
  gpus: number,
  least?: number,
): Span[] {
  const all = columns.map((column) => (column instanceof DeviceArray ? piecesOf(column) : []));
  const pieces = all.find(({ length }) => length > 1)?.filter(({ array }) => array.length > 0) ?? [];
  if (pieces.length === 0) return spansOf(columns[0].length, scalarBytes[type], gpus, least);
  return pieces.map(({ gpu, first, array }) => ({ gpu, first, count: array.length }));
}
