/**
 * How the work is divided: which side of a join is small enough to be read by every job, how many partitions there are,
 * and which jobs make the answer of them. Small partitions share a job; of one that is far too large several jobs take
 * some rows of one side each, and all of the other.
 */
import type { JoinKind } from "warpmap/relational";
import { MOST_PARTITIONS } from "warpmap/stages";
import type { JobInput, JobResult, Slice } from "../jobs.js";

/** Amounts in bytes that the division goes by. */
export interface Sizes {
  /** Of files that a job reads: small inputs have some units for each worker. */
  readonly leastUnit: number;
  readonly mostUnit: number;
  /** A smaller side is read by every job. */
  readonly smallSide: number;
  /** That are worth a job of their own. */
  readonly leastJob: number;
}

export const SIZES: Sizes = { leastUnit: 2 ** 20, mostUnit: 2 ** 24, smallSide: 2 ** 24, leastJob: 2 ** 22 };

/** Of a worker's memory, what the inputs of a job take as they lie in files. */
const SHARE = 1 / 8;

/** Jobs for each worker, so that a slow one holds up little. */
const JOBS_PER_WORKER = 2;
const UNITS_PER_WORKER = 4;

export interface Workers {
  readonly count: number;
  /** Bytes of each. */
  readonly memory: number;
  readonly sizes: Sizes;
}

/** Bytes of a unit of files of so many. */
export function unitBytes(size: number, { count, sizes }: Workers): number {
  return Math.min(sizes.mostUnit, Math.max(sizes.leastUnit, Math.ceil(size / (count * UNITS_PER_WORKER))));
}

/** Sides whose rows may be divided among jobs that all read the other side: no row comes out twice. */
const DIVIDED: Record<JoinKind, readonly number[]> = {
  inner: [0, 1],
  left: [0],
  semi: [0],
  anti: [0],
  right: [1],
  full: [],
};

/** Of a worker's memory, what rows of a side take that it holds, with an index of their keys: as they lie in files. */
const HELD_SIDE = 1 / 4;

/**
 * The side that every job reads; undefined where both are dealt out. To read it once more in each worker takes less
 * than to deal out the other side.
 */
export function smallSide(
  how: JoinKind,
  bytes: readonly number[],
  { count, memory, sizes }: Workers,
): number | undefined {
  const fits = (side: number) =>
    bytes[side] < sizes.smallSide ||
    (bytes[side] < memory * HELD_SIDE && bytes[side] * (count - 1) < bytes[1 - side]);
  const small = DIVIDED[how].map((divided) => 1 - divided).filter(fits);
  return small.sort((a, b) => bytes[a] - bytes[b])[0];
}

/** Partitions for inputs of so many bytes. */
export function partitionsFor(bytes: number, { count, memory, sizes }: Workers): number {
  const byMemory = Math.ceil(bytes / (memory * SHARE));
  const bySize = Math.ceil(bytes / sizes.leastJob);
  return Math.min(MOST_PARTITIONS, Math.max(byMemory, Math.min(bySize, count * JOBS_PER_WORKER), 1));
}

/**
 * The inputs of each job that makes a part of the answer.
 * @param dealt the results of dealing each input out
 * @param how the kind of join; undefined for groups, whose rows stay together
 * @param grouped whether groups were dealt out
 */
export function partJobs(
  dealt: readonly (readonly JobResult[])[],
  partitions: number,
  how: JoinKind | undefined,
  grouped: boolean,
  { count, memory, sizes }: Workers,
): JobInput[][] {
  const slices = dealt.map((results) => slicesOf(results, partitions));
  const all = slices.flat(2).reduce((sum, slice) => sum + bytesOf([slice]), 0);
  const most = memory * SHARE;
  const enough = Math.min(most, Math.max(sizes.leastJob, all / (count * JOBS_PER_WORKER)));
  const jobs: JobInput[][] = [];
  let waiting: Slice[][] = dealt.map(() => []);
  const flush = () => {
    if (waiting.some((own) => own.length > 0)) jobs.push(waiting.map((own) => ({ slices: own, grouped })));
    waiting = dealt.map(() => []);
  };
  for (let p = 0; p < partitions; p++) {
    const own = slices.map((side) => side[p]);
    const bytes = bytesOf(own.flat());
    if (bytes > 0 && bytesOf(waiting.flat()) + bytes > enough) flush();
    const divided = how && bytes > most ? dividedJobs(own, how, most) : null;
    if (divided) jobs.push(...divided);
    else waiting = waiting.map((side, i) => [...side, ...own[i]]);
  }
  flush();
  return jobs;
}

/** Jobs that take some slices of the larger side that may be divided, and all of the other; null for one job. */
function dividedJobs(own: readonly Slice[][], how: JoinKind, most: number): JobInput[][] | null {
  const [side] = DIVIDED[how].toSorted((a, b) => bytesOf(own[b]) - bytesOf(own[a]));
  if (side === undefined || own[side].length < 2) return null;
  const pieces: Slice[][] = [[]];
  for (const slice of own[side]) {
    const last = pieces.at(-1) as Slice[];
    if (last.length > 0 && bytesOf(last) + bytesOf([slice]) > most / 2) pieces.push([slice]);
    else last.push(slice);
  }
  return pieces.map((piece) =>
    own.map((slices, i) => ({ slices: i === side ? piece : slices, grouped: false })),
  );
}

/** Of each partition, in the order of the jobs: that of the rows. */
function slicesOf(results: readonly JobResult[], partitions: number): Slice[][] {
  return Array.from({ length: partitions }, (_, p) =>
    results.flatMap(({ dealt }) => {
      if (dealt === null) return [];
      const [from, to] = [dealt.offsets[p], dealt.offsets[p + 1]];
      return from === to ? [] : [{ file: dealt.file, from, to }];
    }),
  );
}

function bytesOf(slices: readonly Slice[]): number {
  return slices.reduce((sum, { from, to }) => sum + to - from, 0);
}
