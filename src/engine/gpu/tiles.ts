/**
 * How kernels cut tiles: items that a workgroup takes at once, through its memory, on their way into the order of bins.
 */
import type { GpuTraits } from "./runtime.js";

/** Items that an invocation takes, loads in flight at once; and rounds of them. */
export interface TileShape {
  readonly items: number;
  readonly rounds: number;
}

/** By the words of an item: they are in registers, and a round of them in workgroup memory. */
const TILE_SHAPES: readonly (TileShape & { readonly upTo: number })[] = [
  { upTo: 2, items: 12, rounds: 3 },
  { upTo: 4, items: 12, rounds: 6 },
  { upTo: 8, items: 6, rounds: 6 },
  { upTo: 24, items: 2, rounds: 2 },
];

/** How tiles of items of so many words are cut. */
export function tileShape({ isEmulated }: GpuTraits, words: number): TileShape {
  // a software GPU's compiler takes seconds for what the loops over items unroll to
  if (isEmulated) return { items: 2, rounds: 1 };
  return TILE_SHAPES.find(({ upTo }) => words <= upTo) ?? TILE_SHAPES[TILE_SHAPES.length - 1];
}

/**
 * Bytes of workgroup memory that a tile takes: `bytes` for each invocation, and those of its bins and of the words that
 * it remembers.
 */
export function tileBytes(workgroup: number, bytes: number, bins: number, seen: number): number {
  return workgroup * bytes + bins * 12 + seen * 4 + 512;
}

/** Invocations of a kernel that works on such tiles: as many as its memory allows, 64 at least. */
export function fitWorkgroup(traits: GpuTraits, bytes: number, bins: number, seen = 0): number {
  let size = Math.min(512, traits.maxInvocations);
  while (size > 64 && tileBytes(size, bytes, bins, seen) > traits.maxWorkgroupBytes) size /= 2;
  return size;
}
