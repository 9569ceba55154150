/**
 * How kernels cut tiles of rows, or groups, that they bring into the order of bins: ../partitioned/tile.wgsl, with
 * items of three words.
 */
import type { GpuHost } from "../host.js";
import { fitWorkgroup } from "../tiles.js";

/** Items that an invocation takes at once, and the rounds in which they go through workgroup memory. */
const SHAPES = { software: { ITEMS: 2, ROUNDS: 1 }, hardware: { ITEMS: 12, ROUNDS: 6 } } as const;
/** Of an item in workgroup memory. */
const ITEM_BYTES = 16;

export interface RowTile {
  readonly ITEMS: number;
  readonly ROUNDS: number;
  readonly BINS: number;
  readonly WORKGROUP: number;
}

/** The tiles of kernels with so many bins. */
export function tileOf({ gpu: { traits } }: GpuHost, BINS: number): RowTile {
  const { ITEMS, ROUNDS } = traits.isEmulated ? SHAPES.software : SHAPES.hardware;
  const WORKGROUP = fitWorkgroup(traits, (ITEMS / ROUNDS) * ITEM_BYTES, BINS);
  return { ITEMS, ROUNDS, BINS, WORKGROUP };
}
