/**
 * Batches whose keys surely repeat, as groups of equal keys (ListOperations.group): the table finds each group's list
 * once, and lists are changed once a group. Items are brought into pages of few keys (partitioned/staged-items.ts),
 * where a workgroup meets equal ones (group-keys.wgsl).
 */
import type { DeviceArray } from "../../device-array.js";
import type { CallOptions } from "../../engine.js";
import type { BasicType } from "../../scalars.js";
import type { BatchGroups, Groupable, ValueLists } from "../../value-lists.js";
import { boundChunk } from "../batch/bound-chunk.js";
import { gpuArray, Scratch } from "../batch/columns.js";
import type { GpuHost } from "../host.js";
import type { StagedItems } from "../partitioning.js";
import type { Range } from "../runtime.js";
import type { GpuLists } from "./gpu-lists.js";
import { groupKeys, LEAST_TILE, MOST_TILE } from "./list-kernels.js";
import { type ListRun, runLists } from "./list-run.js";

/** Tiles of a batch: enough for all of a large GPU's workgroups, several times. */
const TILES = 2048;
/** Groups of a tile for which there is room on average: a page's keys, and some more. */
const TILE_GROUPS = 640;

/** Groups of a batch in the GPU's memory, until `destroy`. */
export class GroupedBatch<K extends BasicType> implements BatchGroups<K> {
  constructor(
    private readonly scratch: Scratch,
    readonly keys: DeviceArray<K>,
    /** Elements of each group. */
    readonly sizes: Range,
    /** Elements of all groups. */
    readonly elements: number,
    readonly staged: StagedItems,
    readonly tiling: Tiling,
    /** Where each item is in which group: item-tiles.wgsl. Where there are values. */
    readonly places: Range | undefined,
    readonly tileGroups: Range | undefined,
  ) {}

  append(lists: ValueLists, numbers: DeviceArray<"u32">, call: CallOptions): Promise<number | null> {
    return (lists as GpuLists<BasicType>).appendGroups(numbers, this, call);
  }

  destroy(): void {
    this.scratch.release();
  }
}

/** The tiles of staged items. */
export interface Tiling {
  /** Items of a tile. */
  readonly tile: number;
  /** Numbers of tiles lie below. */
  readonly tiles: number;
  readonly grid: readonly [number, number];
}

/** Makes groups of a batch; null where its keys are too unevenly frequent, or the GPU has too little memory. */
export async function groupBatch<K extends BasicType>(
  host: GpuHost,
  batch: Groupable<K>,
  call: CallOptions,
): Promise<GroupedBatch<K> | null> {
  const scratch = new Scratch(host.gpu);
  let grouped: GroupedBatch<K> | null = null;
  try {
    grouped = await scratch.attempt(() =>
      runLists(host, call, (run) => makeGroups(host, run, scratch, batch)),
    );
    return grouped;
  } finally {
    if (grouped === null) scratch.release();
  }
}

async function makeGroups<K extends BasicType>(
  host: GpuHost,
  run: ListRun,
  scratch: Scratch,
  { table, distinct, keys, values, valueType }: Groupable<K>,
): Promise<GroupedBatch<K> | null> {
  const partitioning = await host.partitioning?.();
  if (!partitioning) return null;
  const chunk = { first: 0, count: keys.length };
  const valued = values !== null && valueType !== null;
  const bound = boundChunk(chunk, scratch, {
    keys: await scratch.input(keys.type, keys, chunk),
    ...(valued && { values: await scratch.input(valueType, values, chunk) }),
  });
  const splitting = { host, spec: table, submissions: run.submissions };
  const kind = valued ? "pair" : "key";
  const staged = await partitioning.stageItems(splitting, bound, kind, distinct);
  const tiling = tilingOf(staged, keys.length);
  const room = Math.min(keys.length, distinct + tiling.tiles * TILE_GROUPS);
  const words = async (count: number) => ({ buffer: await scratch.buffer(count * 4), size: count * 4 });
  const [found, sizes] = [await words(room), await words(room)];
  const places = valued ? await words(staged.length) : undefined;
  const tileGroups = valued ? await words(tiling.tiles) : undefined;
  const group = await run.gridStep(groupKeys[kind], { HEAD: 1, VALUED: valued }, tiling.grid);
  const { items, ranges } = staged;
  const { groups } = await run.counted(
    "group keys",
    (recorder) => {
      staged.record(recorder);
      group(
        recorder,
        { control: run.control, ranges, items, places, tileGroups, groupKeys: found, sizes },
        { pageRoom: staged.room, tile: tiling.tile, total: room },
      );
    },
    staged.reads,
  );
  if (staged.lost() || groups > room) return null;
  const place = { buffer: found.buffer, byteOffset: 0, owned: false };
  const groupsKeys = gpuArray(host.engine, host.gpu, keys.type as K, groups, place);
  return new GroupedBatch(scratch, groupsKeys, sizes, keys.length, staged, tiling, places, tileGroups);
}

function tilingOf({ pages, room }: StagedItems, count: number): Tiling {
  if (room > 0) return { tile: room, tiles: pages, grid: [1, pages] };
  const tile = Math.min(MOST_TILE, Math.max(LEAST_TILE, Math.ceil(count / TILES)));
  const perPage = Math.ceil((count / pages / tile) * 1.05) + 1;
  return { tile, tiles: Math.floor(count / tile) + pages + 1, grid: [perPage, pages] };
}
