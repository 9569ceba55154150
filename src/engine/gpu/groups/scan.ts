/**
 * Exclusive prefix sums of 32-bit words on the GPU, in place: scan.wgsl tile by tile, and again over the tiles' sums.
 */
import { fragment, kernelSource, readWrite } from "../kernel-source.js";
import type { Bindings, Range, Recorder } from "../runtime.js";

/** Words that one workgroup scans, and elements that `count` has for a workgroup. */
const SCAN_TILE = 2048;
const ROW_TILE = 256;

export const scanParams = [
  /** Words of the whole array. */
  "total",
] as const;

const workgroup = fragment("", { values: { WORKGROUP: 256 } });
const scanned = { bindings: { words: readWrite(), tileSums: readWrite() } };

/** Sums within tiles, and what adds the sums of the tiles before. */
export const scanKernels = {
  scan: kernelSource("scan", scanParams, [workgroup, fragment("groups/scan", scanned)]),
  scanAdd: kernelSource("scan add", scanParams, [workgroup, fragment("groups/scan-add", scanned)]),
};

/** Records the dispatches of a kernel that scans. */
export type ScanStep = (
  recorder: Recorder,
  bindings: Bindings<"words" | "tileSums">,
  params: { readonly total: number; readonly count: number },
) => void;

/** A call that scans: its memory, and what records its kernels. */
export interface Scanner {
  range(bytes: number): Promise<Range>;
  scanStep(kernel: keyof typeof scanKernels): Promise<ScanStep>;
}

/** Allocates what a scan of `total` words takes, and answers what records it. */
export async function scanning(
  run: Scanner,
  words: Range,
  total: number,
): Promise<(recorder: Recorder) => void> {
  const tiles = Math.ceil(total / SCAN_TILE);
  const bindings = { words, tileSums: await run.range(tiles * 4) };
  const params = { total, count: tiles * ROW_TILE };
  const scanTiles = await run.scanStep("scan");
  if (tiles === 1) return (recorder) => scanTiles(recorder, bindings, params);
  const scanSums = await scanning(run, bindings.tileSums, tiles);
  const addSums = await run.scanStep("scanAdd");
  return (recorder) => {
    scanTiles(recorder, bindings, params);
    scanSums(recorder);
    addSums(recorder, bindings, params);
  };
}
