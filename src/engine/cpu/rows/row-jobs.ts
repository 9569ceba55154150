/**
 * Jobs on rows that several threads share. As with jobs on tables (jobs.ts), a job is plain data in memory that all
 * threads reach, and threads take pieces of it from a counter until none is left; which thread works on which piece
 * never shows in a result.
 */

import { openSort, type SortJob } from "../groups/sort.js";
import { type MatchJob, openMatch, openPlace, type PlaceJob } from "../join/match.js";
import { type CountJob, openCount, openPairs, type PairsJob } from "../join/pairs.js";
import { type ExpandJob, openExpand, openProbe, type ProbeJob } from "../join/probe.js";
import { type GatherJob, openGather } from "./gather-job.js";

export type RowJob = SortJob | MatchJob | PlaceJob | ProbeJob | ExpandJob | CountJob | PairsJob | GatherJob;

/** What one thread did of a job. */
export interface RowResult {
  /** Build rows found to follow another. */
  readonly repeats: number;
  /** Buffers that this thread made, by task number, of a GatherJob. */
  readonly made: readonly Made[];
}

/** Buffers made for a task. */
export interface Made {
  readonly task: number;
  readonly buffers: readonly ArrayBuffer[];
}

/** A job as one thread works on it. */
export interface Work {
  readonly pieces: number;
  readonly run: (piece: number) => void;
  readonly result: () => RowResult;
}

export function openRowJob(job: RowJob): Work {
  switch (job.kind) {
    case "sort":
      return openSort(job);
    case "match":
      return openMatch(job);
    case "place":
      return openPlace(job);
    case "probe":
      return openProbe(job);
    case "expand":
      return openExpand(job);
    case "count":
      return openCount(job);
    case "pairs":
      return openPairs(job);
    case "gather":
      return openGather(job);
  }
}

/** The buffers of a result, which a worker hands over. */
export function buffersOf({ made }: RowResult): ArrayBuffer[] {
  return made.flatMap(({ buffers }) => buffers);
}

/** Work that answers nothing but what it wrote. */
export function silently(pieces: number, run: (piece: number) => void): Work {
  return { pieces, run, result: () => NOTHING };
}

const NOTHING: RowResult = { repeats: 0, made: [] };
