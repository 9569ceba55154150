/** What the view Bench and its worker say to each other, and which benchmarks there are. */
import type { BenchReport } from "../../../../bench/report.js";
import type { EngineChoice } from "../engines.js";

/** A benchmark of bench/ that runs on a page as well. */
export interface Benchmark {
  /** In links and in reports of the page. */
  readonly id: string;
  /** Module in bench/, and what it varies. */
  readonly module: "gups" | "static-map" | "lifecycle";
  readonly sweep?: "size" | "load";
  readonly title: string;
  readonly says: string;
  /** Whether it runs when the reader chooses nothing. */
  readonly first: boolean;
}

export const BENCHMARKS: readonly Benchmark[] = [
  {
    id: "gups",
    module: "gups",
    title: "Random reads",
    says: "Reads of 8 bytes at random places of a large array, and copying: no hash table is faster than its memory",
    first: true,
  },
  {
    id: "map",
    module: "static-map",
    title: "Insert, find, erase",
    says: "A map of u32 to u32 with the largest number of keys, at load 0.5 and, on a GPU, 0.95",
    first: false,
  },
  {
    id: "map-by-size",
    module: "static-map",
    sweep: "size",
    title: "By size",
    says: "Insert and find, from 2^10 keys on",
    first: true,
  },
  {
    id: "map-by-load",
    module: "static-map",
    sweep: "load",
    title: "By load factor",
    says: "Insert, find and erase at loads of 0.1 to 0.97",
    first: false,
  },
  {
    id: "lifecycle",
    module: "lifecycle",
    title: "A table's life",
    says: "Create, insert, find, destroy; the first table, fresh ones, and calls after a pause of 1, 3 and 10 seconds",
    first: false,
  },
];

export interface BenchRequest {
  readonly id: string;
  readonly engine: EngineChoice;
  /** The largest number of keys. */
  readonly size: number;
}

/** A report and which of the page's benchmarks it is of. */
export interface PageReport {
  readonly id: string;
  readonly report: Omit<BenchReport, "published" | "notes"> &
    Partial<Pick<BenchReport, "published" | "notes">>;
}
