/** The kernels that put a batch into the order of the GPUs that own its keys, and back: kernels/owners.cu. */
import { fragment, kernelSource, read, readWrite } from "warpmap/engine";

export const ownerKernels = {
  hash: kernelSource(
    "owner_hash",
    ["COUNT", "WORDS", "FLOAT", "FIRST", "SEED"],
    [fragment("", { bindings: { column: read(), hashes: readWrite() } })],
  ),
  sort: kernelSource(
    "owner_sort",
    ["COUNT", "WORDS", "FLOAT", "FIRST", "SEED", "OWNERS", "CHUNKS", "OWN", "HOT", "STAYING"],
    [
      fragment("", {
        bindings: {
          column: read(),
          hashes: read(),
          mask: read(),
          hot: read(),
          counts: readWrite(),
          begins: readWrite(),
          order: readWrite(),
        },
      }),
    ],
  ),
  offsets: kernelSource(
    "owner_offsets",
    ["BINS", "SHARES"],
    [fragment("", { bindings: { counts: readWrite(), starts: readWrite() } })],
  ),
  send: kernelSource(
    "owner_send",
    ["TILES", "SEGMENTS", "BYTES", "BASE"],
    [
      fragment("", {
        bindings: { order: read(), counts: read(), begins: read(), column: read(), segments: read() },
      }),
    ],
  ),
  take: kernelSource(
    "owner_take",
    ["TILES", "SEGMENTS", "BYTES"],
    [
      fragment("", {
        bindings: { order: read(), counts: read(), begins: read(), segments: read(), to: readWrite() },
      }),
    ],
  ),
  gather: kernelSource(
    "owner_gather",
    ["COUNT"],
    [fragment("", { bindings: { order: read(), column: read(), to: readWrite() } })],
  ),
  scatter: kernelSource(
    "owner_scatter",
    ["COUNT", "BYTES"],
    [fragment("", { bindings: { order: read(), column: read(), to: readWrite() } })],
  ),
  merge: kernelSource(
    "owner_merge",
    ["COUNT", "LISTS"],
    [fragment("", { bindings: { numbers: read(), ends: read(), places: readWrite() } })],
  ),
  partStarts: kernelSource(
    "owner_part_starts",
    ["FINE", "LOW", "HIGH", "SHIFT", "SOURCES"],
    [fragment("", { bindings: { sources: read(), starts: readWrite(), cursors: readWrite() } })],
  ),
  fill: kernelSource(
    "owner_fill",
    ["COUNT", "BYTES", "LOW", "HIGH"],
    [fragment("", { bindings: { to: readWrite() } })],
  ),
};

/** The kernels that make groups of several GPUs groups of all: kernels/owner-groups.cu. */
export const groupKernels = {
  pack: kernelSource(
    "group_pack",
    ["COUNT", "WORDS", "STRIDE", "AT"],
    [fragment("", { bindings: { column: read(), to: readWrite() } })],
  ),
  find: kernelSource(
    "group_find",
    ["COUNT", "WORDS", "SLOTS", "SEED"],
    [fragment("", { bindings: { keys: read(), slots: readWrite(), found: readWrite() } })],
  ),
  count: kernelSource(
    "group_count",
    ["COUNT"],
    [fragment("", { bindings: { slots: read(), found: read(), counts: readWrite() } })],
  ),
  place: kernelSource(
    "group_place",
    ["COUNT"],
    [fragment("", { bindings: { slots: read(), found: read(), counts: read(), places: readWrite() } })],
  ),
  merge: kernelSource(
    "group_merge",
    ["FIRST", "COUNT", "WORDS", "HOW", "FORM"],
    [
      fragment("", {
        bindings: { slots: read(), found: read(), places: read(), column: read(), to: readWrite() },
      }),
    ],
  ),
};

/** Elements of a tile, and threads of the blocks that sort, send and take one. */
export const [TILE, TILE_THREADS] = [8192, 512];
/** Blocks that sort tiles: as many as 132 multiprocessors have room for. */
export const SORT_BLOCKS = 3 * 132;
/** Blocks that send or take them: more than fit at once, or few, beside other work. Measured on two H200. */
export const MOVE_BLOCKS = { alone: 4 * 132, beside: 132 };
/** Elements that a block of `groupKernels.count` and `place` goes through. */
export const GROUP_TILE = 2048;
