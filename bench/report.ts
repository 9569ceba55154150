/** What every benchmark hands back: the numbers, and everything needed to judge and repeat them. Kept as JSON per machine. */
import type { Device } from "../src/device.js";
import { hostFacts } from "./host.js";

/** Options that `warpmap bench` hands to a benchmark. */
export interface BenchOptions {
  /** Entries; undefined: the benchmark's own sizes. */
  readonly size?: number;
  /** Fewest timed runs of each figure, the median of which is reported. Default 5. */
  readonly runs?: number;
  /** What to vary: one of the module's `sweeps`. Undefined: the benchmark's own table. */
  readonly sweep?: string;
  /** Entries of a key: the only one to measure. Undefined: the benchmark's own. For modules that take it. */
  readonly multiplicity?: number;
  /** Builds what users import, if need be, and answers its URL: for benchmarks that start processes. */
  readonly library?: () => Promise<string>;
  readonly signal?: AbortSignal;
  /** Called with a few words on what is measured next. */
  readonly onProgress?: (label: string) => void;
}

/** One measurement. Keys name the quantity with its unit: `size`, `operation`, `ms`, `GB/s`. */
export type BenchRow = Readonly<Record<string, number | string | null>>;

/**
 * The state of the machine that a figure was taken in. `cold process`: a process of its own that had done nothing before. `first
 * table`: the first one on a device, whose kernels are not compiled. `fresh table`: made, used once and dropped, by a process that
 * is warm. `after rest`: a call after a time without work. `warm loop`: the same call again and again. `not timed`: counts that do not
 * depend on the state.
 */
export type State = "cold process" | "first table" | "fresh table" | "after rest" | "warm loop" | "not timed";

export interface BenchReport {
  /** The benchmark's name on the command line. */
  readonly bench: string;
  /** Of all rows; `by row` where each has a column `state`. */
  readonly state: State | "by row";
  /** Processor, memory and operating system of the host. */
  readonly machine: string;
  /** What the engine runs on. */
  readonly device: string;
  /** The GPU's driver as far as WebGPU tells; empty for the CPU. */
  readonly driver: string;
  /** Version of Node; on a page the browser. */
  readonly node: string;
  /** Commit of the checkout, with "-dirty" after it when files were changed; null where it is not known. */
  readonly commit: string | null;
  /** Start of the run, ISO 8601. */
  readonly date: string;
  /** What was fixed for all rows: types, load factor, repetitions, how time was taken. */
  readonly parameters: BenchRow;
  readonly rows: readonly BenchRow[];
  /** Figures of others that the rows stand beside. They were not measured in this run. */
  readonly published?: readonly Published[];
  /** Sentences for the reader: what a number means, what went differently from plan. */
  readonly notes: readonly string[];
}

/** A report as JSON: older ones do not say the state. */
export type StoredReport = Omit<BenchReport, "state"> & Partial<Pick<BenchReport, "state">>;

/** Somebody else's figure: what was measured, where it is written. */
export interface Published {
  /** Whose, and on what hardware. */
  readonly of: string;
  /** As the rows name it. */
  readonly operation: string;
  /** Entries per slot, where the figure depends on it. */
  readonly load?: number;
  /** Entries, where the figure depends on it. */
  readonly size?: number;
  readonly value: number;
  readonly unit: string;
  readonly source: string;
}

/** What a file in bench/ exports. */
export interface BenchModule {
  /** What `sweep` can name; undefined where nothing can be varied. */
  readonly sweeps?: readonly string[];
  /** Whether `multiplicity` can be given. */
  readonly takesMultiplicity?: boolean;
  run(device: Device, options: BenchOptions): Promise<BenchReport>;
}

/** One of three by what the device is: a real GPU, the CPU engine, or a GPU that the CPU emulates. */
export function byDevice<T>(device: Device, choices: { gpu: T; cpu: T; software: T }): T {
  if (device.backend === "cpu") return choices.cpu;
  return device.info.software ? choices.software : choices.gpu;
}

/** True for a GPU that is no emulation: figures of other GPUs say something beside its own. */
export function isRealGpu({ backend, info }: Device): boolean {
  return backend !== "cpu" && !info.software;
}

/** What rows call the engine of a device. */
export function engineName({ backend, info }: Device): string {
  if (backend !== "cpu") return backend;
  return `cpu, ${info.threads} ${info.threads === 1 ? "thread" : "threads"}`;
}

/** The part of a report that says where and when it was made. */
export function circumstances(
  device: Device,
): Pick<BenchReport, "machine" | "device" | "driver" | "node" | "commit" | "date"> {
  return {
    ...hostFacts(),
    device: device.info.name,
    driver: device.info.hardware.driver ?? device.info.hardware.description ?? "",
    date: new Date().toISOString(),
  };
}

/** Threads of a CPU device that a benchmark takes: one and all, or with the sweep over threads 2, 4, 16 and 64 besides. */
export function threadCounts(all: number, { sweep }: BenchOptions): number[] {
  const counts = sweep === "threads" ? [1, 2, 4, 16, 64].filter((count) => count < all) : [1];
  return [...new Set([...counts, all])];
}
