/** Exclusive prefix sums of 32-bit words on the GPU, in place: scan.wgsl tile by tile, and again over the tiles' sums. */
import type { Range } from "../device/kernel.js";
import { ROW_TILE, SCAN_TILE } from "./row-kernels.js";
import type { RowRun } from "./row-run.js";

/** Allocates what a scan of `total` words takes, and answers what records it. */
export async function scanning(
  run: RowRun,
  words: Range,
  total: number,
): Promise<(encoder: GPUCommandEncoder) => void> {
  const { scan, scanAdd } = run.host.sources;
  const tiles = Math.ceil(total / SCAN_TILE);
  const bindings = { words, tileSums: await run.range(tiles * 4) };
  const params = { total, count: tiles * ROW_TILE };
  const scanTiles = await run.step(scan, {});
  if (tiles === 1) return (encoder) => scanTiles(encoder, bindings, params);
  const scanSums = await scanning(run, bindings.tileSums, tiles);
  const addSums = await run.step(scanAdd, {});
  return (encoder) => {
    scanTiles(encoder, bindings, params);
    scanSums(encoder);
    addSums(encoder, bindings, params);
  };
}
