/**
 * Jobs on rows, and on the keys of sketches, that several threads share. As with jobs on tables (jobs.ts), a job is
 * plain data in memory that all threads reach, and threads take pieces of it from a counter until none is left; which
 * thread works on which piece never shows in a result.
 */
import type { Work } from "../../../host/work.js";
import {
  type FloatRangesJob,
  openFloatRanges,
  openRenumber,
  openSlices,
  type RenumberJob,
  type SlicesJob,
} from "../groups/aggregate-jobs.js";
import { openPlaces, type PlacesJob } from "../groups/close-columns.js";
import { type FillJob, type HashJob, openFill, openHash } from "../groups/fill.js";
import {
  type FirstRowsJob,
  type ListFirstsJob,
  openFirstRows,
  openListFirsts,
} from "../groups/first-rows.js";
import { openPartitions, type PartitionsJob } from "../groups/partition-jobs.js";
import { type LeadJob, openLead } from "../groups/partitions.js";
import { openRank, type RankJob } from "../groups/rank-jobs.js";
import { openSort, type SortJob } from "../groups/sort.js";
import { type ListJob, openList } from "../join/equal-rows.js";
import { type MatchJob, openMatch, openPlace, type PlaceJob } from "../join/match.js";
import { type CountJob, openCount, openPairs, type PairsJob } from "../join/pairs.js";
import { type ExpandJob, openExpand, openProbe, type ProbeJob } from "../join/probe.js";
import {
  type FilterAddJob,
  type FilterContainsJob,
  openFilterAdd,
  openFilterContains,
  openRegistersAdd,
  openSortKeys,
  type RegistersAddJob,
  type SortKeysJob,
} from "../sketches/sketch-jobs.js";

export type RowJob =
  | PlacesJob
  | SortJob
  | LeadJob
  | HashJob
  | FillJob
  | SlicesJob
  | FirstRowsJob
  | ListFirstsJob
  | FloatRangesJob
  | PartitionsJob
  | RankJob
  | RenumberJob
  | MatchJob
  | PlaceJob
  | ListJob
  | ProbeJob
  | ExpandJob
  | CountJob
  | PairsJob
  | SortKeysJob
  | FilterAddJob
  | FilterContainsJob
  | RegistersAddJob;

/** A job as a thread works on it. */
export function openRowJob(job: RowJob): Work {
  switch (job.kind) {
    case "places":
      return openPlaces(job);
    case "sort":
      return openSort(job);
    case "lead":
      return openLead(job);
    case "hash":
      return openHash(job);
    case "fill":
      return openFill(job);
    case "group slices":
      return openSlices(job);
    case "first rows":
      return openFirstRows(job);
    case "list firsts":
      return openListFirsts(job);
    case "float ranges":
      return openFloatRanges(job);
    case "group partitions":
      return openPartitions(job);
    case "rank groups":
      return openRank(job);
    case "renumber":
      return openRenumber(job);
    case "match":
      return openMatch(job);
    case "place":
      return openPlace(job);
    case "list":
      return openList(job);
    case "probe":
      return openProbe(job);
    case "expand":
      return openExpand(job);
    case "count":
      return openCount(job);
    case "pairs":
      return openPairs(job);
    case "sort keys":
      return openSortKeys(job);
    case "filter add":
      return openFilterAdd(job);
    case "filter contains":
      return openFilterContains(job);
    case "registers add":
      return openRegistersAdd(job);
  }
}
