/**
 * The benchmark gups (Table 1 of NVIDIA's article): random 8-byte reads of a table in GB/s, beside what copying moves. It bounds
 * every hash table whose operations are random accesses, so other benchmarks state their figures as a ratio to it.
 *
 * Reads only, unlike HPCC RandomAccess (which updates), because NVIDIA's article measures "random 64-bit reads". Places are a hash
 * of the read's number: no read waits for another.
 */
import { type Device, ValidationError } from "../src/index.js";
import type { ClockName } from "./gpu-clock.js";
import { measureGupsOnCpu } from "./gups-cpu.js";
import { measureGupsOnGpu } from "./gups-webgpu.js";
import { GUPS } from "./published.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances } from "./report.js";
import type { Timing } from "./timing.js";

/** What to measure. */
export interface GupsSize {
  /** 8-byte entries of the table: a power of two from 2^10 on. */
  readonly entries: number;
  /** Runs of each figure. */
  readonly runs: number;
}

/** One measured rate. */
export interface GupsRate {
  /** Reads of one run; bytes, read and written, for copies. */
  readonly operations: number;
  readonly timing: Timing;
  /** Threads that worked; null on a GPU. */
  readonly threads: number | null;
}

/** What was measured, with fewest threads first. */
export interface GupsFigures {
  readonly entries: number;
  readonly clock: ClockName;
  readonly reads: readonly GupsRate[];
  readonly copies: readonly GupsRate[];
}

/** Entries of the table unless told: 1 GiB on a GPU, 128 MiB on a CPU (past most caches), 8 MiB on a GPU that a CPU emulates. */
export function defaultGupsEntries(device: Device): number {
  if (device.backend === "cpu") return 2 ** 24;
  if (device.info.software) return 2 ** 20;
  const most = (device.gpuDevice?.limits.maxStorageBufferBindingSize ?? 2 ** 30) / 8;
  return Math.min(2 ** 27, 2 ** Math.floor(Math.log2(most)));
}

/** As {@link measureGups} at the default size; null on a device for which no such kernel is written, as CUDA's. */
export async function gupsOf(device: Device, runs: number): Promise<GupsFigures | null> {
  if (device.backend !== "cpu" && !device.gpuDevice) return null;
  return measureGups(device, { entries: defaultGupsEntries(device), runs });
}

/** What reports say of it among their parameters. */
export function gupsParameters(gups: GupsFigures | null): BenchRow {
  return gups ? { "GUPS GB/s": gupsGigabytes(gups), "GUPS table bytes": gups.entries * 8 } : {};
}

/** Measures random reads and copies, after checking that the reads read what they should. */
export function measureGups(device: Device, size: GupsSize): Promise<GupsFigures> {
  const { entries } = size;
  if (!(Number.isInteger(Math.log2(entries)) && entries >= 2 ** 10 && entries <= 2 ** 30)) {
    throw new ValidationError(
      `gups does not measure a table of ${entries} entries.`,
      "Give a power of two from 1024 to 2^30; an entry is 8 bytes.",
    );
  }
  if (device.backend === "cpu") return measureGupsOnCpu(device, size);
  if (device.gpuDevice) return measureGupsOnGpu(device, size);
  throw new ValidationError(`gups has no kernel for ${device.backend}.`, "Use a webgpu or cpu device.");
}

/**
 * Random reads as NVIDIA's article states them: 8 bytes × reads / time, in GB/s (10^9 bytes).
 * @param threads which figure of a CPU; the one with most threads unless there is one with so many.
 */
export function gupsGigabytes({ reads }: GupsFigures, threads?: number): number {
  return gigabytes(reads.find((rate) => rate.threads === threads) ?? reads[reads.length - 1], 8);
}

function gigabytes({ operations, timing }: GupsRate, bytes: number): number {
  return (operations * bytes) / timing.median / 1e6;
}

/** `options.size`: 8-byte entries of the table, a power of two. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const entries = options.size ?? defaultGupsEntries(device);
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  options.onProgress?.(`random reads of ${(entries * 8) / 2 ** 20} MiB, and copying them`);
  const figures = await measureGups(device, { entries, runs });
  options.signal?.throwIfAborted();
  return {
    bench: "gups",
    state: "warm loop",
    ...where,
    parameters: { entries, "table bytes": entries * 8, clock: figures.clock },
    rows: [
      ...figures.reads.map((rate, i) => row("random 8-byte reads", rate, 8, figures.copies[i])),
      ...figures.copies.map((rate) => row("copy", rate, 1, rate)),
    ],
    published: GUPS,
    notes: [
      "Medians. Reads count 8 bytes each, copies the bytes read and the bytes written. GB are 10^9 bytes.",
      `The table has ${(entries * 8) / 2 ** 20} MiB. The sums of the reads were checked.`,
    ],
  };
}

function row(operation: string, rate: GupsRate, bytes: number, copy: GupsRate): BenchRow {
  return {
    operation,
    ...(rate.threads !== null && { threads: rate.threads }),
    ms: rate.timing.median,
    "fastest ms": rate.timing.fastest,
    runs: rate.timing.runs,
    "GB/s": gigabytes(rate, bytes),
    "ratio to copy": gigabytes(rate, bytes) / gigabytes(copy, 1),
  };
}
