/**
 * How a batch gets into a multimap or a multiset: its keys get numbers, in groups of equal ones where the engine makes
 * such, and its entries get into the lists with these numbers. The invariants are multi-index.ts's.
 */
import type { DeviceArray } from "../engine/device-array.js";
import type { CallOptions, ColumnInput, Input } from "../engine/engine.js";
import type { BasicType } from "../engine/scalars.js";
import { EngineError } from "../errors.js";
import type { MultiIndex } from "./multi-index.js";
import { Stages } from "./stages.js";

/** What became of a batch. */
export interface MultiTally {
  readonly inserted: number;
  /** Elements beyond the capacity: the last ones of the batch. */
  readonly beyond: number;
  /** Elements whose keys found no slot. */
  readonly keyless: number;
}

/** Adds the elements that fit. */
export async function insertEntries<K extends BasicType, V extends BasicType>(
  index: MultiIndex<K, V>,
  given: ColumnInput<K>,
  values: ColumnInput<V> | null,
  call: CallOptions,
): Promise<MultiTally> {
  call.signal?.throwIfAborted();
  const stages = new Stages(call, given.length, 3);
  const keys = await index.onDevice(index.types.key, given);
  try {
    return (
      (await insertGroups(index, keys.column, values, call, stages)) ??
      (await insertElements(index, keys.column, values, call, stages))
    );
  } finally {
    keys.free();
  }
}

/** `insert` by groups of equal keys; null where the engine makes none of the batch, and nothing was changed. */
async function insertGroups<K extends BasicType, V extends BasicType>(
  index: MultiIndex<K, V>,
  keys: DeviceArray<K>,
  values: ColumnInput<V> | null,
  call: CallOptions,
  stages: Stages,
): Promise<MultiTally | null> {
  const { operations, types, table } = index;
  const free = index.sizing.capacity - index.size;
  if (operations.group === undefined || call.where !== undefined || keys.length > free) return null;
  const distinct = Math.min(keys.length, index.sizing.keyCapacity);
  const given = { table: table.spec, distinct, keys, values, valueType: types.value };
  const groups = await operations.group(given, call);
  if (groups === null) return null;
  let batch: Batch | undefined;
  try {
    batch = await numbered(index, groups.keys.length, undefined, keys.length);
    // in the order of the slots already
    const inserted = await insert(
      index,
      groups.keys,
      batch,
      stages,
      { strategy: "direct" },
      {
        begin: async () => false,
        append: (numbers, call) => groups.append(index.lists, numbers, call),
      },
    );
    stages.finish();
    return { inserted, beyond: 0, keyless: keys.length - inserted };
  } finally {
    batch?.numbers.destroy();
    groups.destroy();
  }
}

/** `insert` element by element. */
async function insertElements<K extends BasicType, V extends BasicType>(
  index: MultiIndex<K, V>,
  keys: DeviceArray<K>,
  values: ColumnInput<V> | null,
  call: CallOptions,
  stages: Stages,
): Promise<MultiTally> {
  const free = index.sizing.capacity - index.size;
  let batch = await numbered(index, keys.length, call.where, free);
  let { where } = call;
  const beyond = Math.max(0, batch.selected - free);
  try {
    if (beyond > 0) {
      where = await firstSelected(batch, free);
      batch.numbers.destroy();
      batch = await numbered(index, keys.length, where, free);
    }
    const { first, selected, numbers } = batch;
    const inserted = await insert(
      index,
      keys,
      batch,
      stages,
      { where },
      {
        begin: (call) => index.lists.begin(numbers, first, values, call, selected),
        append: (numbers, call) => index.lists.append(numbers, values, call),
      },
    );
    stages.finish();
    return { inserted, beyond, keyless: selected - inserted };
  } finally {
    batch.numbers.destroy();
  }
}

/** New numbers for the elements of a batch, as many as fit; builds the index anew where there are not so many. */
async function numbered<K extends BasicType, V extends BasicType>(
  index: MultiIndex<K, V>,
  length: number,
  where: ColumnInput<"u8"> | undefined,
  free: number,
): Promise<Batch> {
  for (let isRebuilt = false; ; isRebuilt = true) {
    const first = index.lists.taken;
    const batch = { first, ...(await index.operations.number(first, length, where)) };
    const needed = Math.min(batch.selected, free);
    if (isRebuilt || !lacks(index, needed)) return batch;
    batch.numbers.destroy();
    await index.rebuild({ keepsEmpty: false });
  }
}

/** Whether so many elements need numbers, or slots, that a new index has and this one has not. */
function lacks<K extends BasicType, V extends BasicType>(
  { lists, table, sizing }: MultiIndex<K, V>,
  elements: number,
): boolean {
  if (lists.taken + elements > lists.numbers) return true;
  const empty = table.live - lists.filled;
  return empty > 0 && (table.live + elements > sizing.keyCapacity || empty > sizing.capacity / 8);
}

/**
 * Gives new keys the numbers of the batch, and adds the entries of all keys to the lists with theirs; answers how many
 * these are.
 */
async function insert<K extends BasicType, V extends BasicType>(
  index: MultiIndex<K, V>,
  keys: ColumnInput<K>,
  { first, numbers, selected }: Batch,
  stages: Stages,
  how: Pick<CallOptions, "where" | "strategy">,
  adding: Adding,
): Promise<number> {
  if (selected === 0) return 0;
  // whatever happens from here on, nobody else gets these numbers
  index.lists.take(first + selected);
  const inserting = { ...stages.next(), ...how };
  const { log } = inserting;
  const { inserted } = await index.table.insert(keys as Input<K>, numbers, "keep", inserting);
  if (inserted === selected && (await adding.begin({ log, where: how.where }))) return selected;
  if (inserted === 0) index.lists.take(first);
  const looking = { ...stages.next(), ...how };
  for (const call of [looking, { ...looking, onProgress: undefined }]) {
    const found = await index.numbersOf(keys, call);
    try {
      const appended = await adding.append(found, { log });
      if (appended !== null) return appended;
    } finally {
      found.destroy();
    }
    await index.rebuild({ keepsEmpty: true });
  }
  throw new EngineError("Lists that were built anew have no room for a batch.");
}

/** How the entries of a batch get into lists, once its keys have numbers. */
interface Adding {
  /**
   * Where all keys are new and different: each number's list gets one entry. False, with nothing changed, where that
   * does not do.
   */
  begin(call: CallOptions): Promise<boolean>;
  /** The list of each key gets its entries. As ValueLists.append. */
  append(numbers: DeviceArray<"u32">, call: CallOptions): Promise<number | null>;
}

/** The elements of a batch, numbered. */
interface Batch {
  readonly first: number;
  readonly numbers: DeviceArray<"u32">;
  readonly selected: number;
}

/** A mask of the first selected elements of a batch: numbers rise by one at each that is selected. */
async function firstSelected({ first, numbers, selected }: Batch, most: number): Promise<Uint8Array> {
  const list = await numbers.storage.read(0, numbers.length);
  return Uint8Array.from(list, (number, row) => {
    const next = row + 1 < list.length ? list[row + 1] : first + selected;
    return Number(next > number && number - first < most);
  });
}
