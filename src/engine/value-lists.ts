/**
 * Lists of values by number, part of the seam: what multimaps and multisets ask of an engine beside a table that gives
 * every key a number. `Engine.lists()` loads an engine's on first use.
 *
 * A list grows at its end, and its entries stay where they are: longer lists lie in several pieces, each at least an
 * eighth as long as all before it, so a list of n entries has O(log n) of them. What is dropped, and room that nobody
 * takes, is garbage until `moved` writes all lists anew, without gaps. So a batch costs what its own entries cost,
 * however many there are of a key.
 *
 * Multisets have lists without values: of those only the lengths are kept.
 *
 * The container numbers keys: it takes numbers that no list has had, and gives each list to one key. Numbers that a
 * call knows nothing of are NO_LIST. Calls on one object never overlap.
 */
import { LimitError } from "../errors.js";
import type { DeviceArray } from "./device-array.js";
import type { CallOptions, ColumnInput, ColumnOutput, Destination } from "./engine.js";
import type { TableSpec } from "./layout.js";
import type { BasicType, ScalarType } from "./scalars.js";

/** The number of no list. */
export const NO_LIST = 0xffffffff;

/** Shape and size of lists. */
export interface ListSpec {
  /** Of the keys that the lists belong to. */
  readonly key: BasicType;
  /** null where only the lengths are kept. */
  readonly value: BasicType | null;
  /** Entries of all lists together, at most. */
  readonly capacity: number;
}

/**
 * Numbers that lists of so many entries have: a quarter more than are in use at most, so that they last for a while.
 */
export const numbersFor = (capacity: number): number => Math.ceil(capacity * 1.25) + 64;

/** Room for so many entries: what lists may have at their ends, and garbage. */
export const roomFor = (capacity: number): number => Math.ceil(capacity * 1.5);

/** Records that there is memory for at first, by the entries that there can be. */
export const recordsFor = (capacity: number): number => 64 + Math.ceil(capacity / 16);

/**
 * A new piece has room for this part of the entries before it, or the second where there is too little room for that.
 */
export const GROWTH = [2, 8] as const;

/**
 * A piece of a longer list is a record of four words: where its room is, its first position and that behind its last,
 * and the record before.
 */
export const RECORD_WORDS = 4;
/** Marks the place of a list that is the record of its last piece, not an address. */
export const GROWN = 0x80000000;
/** The place of an element whose one entry is missing. */
export const MISSING = 0xffffffff;
/** More pieces than any list has: each makes it longer by an eighth. */
export const MOST_PIECES = 256;

/** Most entries of an expansion: offsets have 32 bits, and a scan of them adds a word. */
const MOST_ENTRIES = 2 ** 32 - 2;

/** @throws LimitError when there are more entries than a result can have, which is as long as `most` allows */
export function checkTotal(total: number, most = MOST_ENTRIES): void {
  const limit = Math.min(most, MOST_ENTRIES);
  if (total <= limit) return;
  const fix = "Retrieve fewer keys at a time, or in pieces with retrieveChunks.";
  throw new LimitError("rows", total, limit, fix);
}

/** How lists are laid out. */
export interface LocateOptions {
  /** An element without entries that `where` selects has one, which is missing. */
  readonly outer: boolean;
  /** Bytes of the widest thing that will be asked of an expansion. */
  readonly bytes: number;
  /** Where that will go. */
  readonly to: Destination;
}

/** Entries of an expansion: `count` from `first` on. */
export interface EntryRange {
  readonly first: number;
  readonly count: number;
}

/** The results of an expansion: those that are wanted. */
export interface Expanded<K extends BasicType, V extends BasicType> {
  readonly queries: ColumnOutput<"u32"> | null;
  readonly keys: ColumnOutput<K> | null;
  readonly values: ColumnOutput<V> | null;
}

/** Per element of a batch of numbers, the places in the results of an expansion. */
export interface ListMatches {
  /** Where each element's entries begin in the result, and where the last one's end. */
  readonly offsets: DeviceArray<"u32">;
  /** What says where the entries are. */
  readonly places: DeviceArray<"u32">;
  /** Entries of the result. */
  readonly total: number;
}

/** What is written for every entry of an expansion; at most two of them. */
export interface Wanted<K extends BasicType> {
  /** The number of its element in the batch. */
  readonly queries?: boolean;
  /** The element of a column at that number; f32 as keys are stored. */
  readonly keys?: DeviceArray<K>;
  /** Its value. */
  readonly values?: boolean;
}

/** Lists of one engine, numbered from 0. All of them are empty at first. */
export interface ValueLists<V extends BasicType = BasicType> {
  readonly spec: ListSpec;
  /** Entries of all lists. */
  readonly entries: number;
  /** Lists that are not empty. */
  readonly filled: number;
  /** Numbers that were taken. */
  readonly taken: number;
  /** Numbers that can be taken. */
  readonly numbers: number;
  /** Bytes of all memory. */
  readonly bytes: number;
  /** Marks numbers below this as taken. */
  take(end: number): void;
  /**
   * Makes each of the `selected` elements that `where` selects the one entry of the list with its number. The numbers
   * are new, and those of the elements in order are `first`, `first` + 1, … Answers false, with nothing changed, when
   * there is too little room. Looks at no signal.
   */
  begin(
    numbers: DeviceArray<"u32">,
    first: number,
    values: ColumnInput<V> | null,
    call: CallOptions,
    selected: number,
  ): Promise<boolean>;
  /**
   * Appends each element to the list with its number, if it has one; answers how many that were, or null, with nothing
   * changed, when there is too little room. There is enough right after `moved`. Looks at no signal.
   */
  append(
    numbers: DeviceArray<"u32">,
    values: ColumnInput<V> | null,
    call: CallOptions,
  ): Promise<number | null>;
  /** The length of each list. Target: sizes. */
  sizes(numbers: DeviceArray<"u32">, output: Destination, call: CallOptions): Promise<ColumnOutput<"u32">>;
  /** Whether each list has entries. Target: found. */
  present(numbers: DeviceArray<"u32">, output: Destination, call: CallOptions): Promise<ColumnOutput<"u8">>;
  /**
   * One entry of each list, or `missing`. Without values it is the element of `keys`, f32 as keys are stored. Targets:
   * values, found.
   */
  firsts(
    numbers: DeviceArray<"u32">,
    keys: ColumnInput<BasicType> | null,
    missing: number | bigint,
    output: Destination,
    call: CallOptions,
  ): Promise<{ values: ColumnOutput<V>; found: ColumnOutput<"u8"> }>;
  /** Empties lists; answers the entries that they had. Looks at no signal. */
  drop(numbers: DeviceArray<"u32">): Promise<number>;
  /**
   * Lays the entries of lists out one after another.
   * @throws LimitError with the number of entries when no result is as long; nothing was allocated for it
   */
  locate(numbers: DeviceArray<"u32">, options: LocateOptions, call: CallOptions): Promise<ListMatches>;
  /** Writes the entries of a range. Targets: those of queries, keys, values that are wanted, in this order. */
  expand<K extends BasicType>(
    matches: ListMatches,
    range: EntryRange,
    wanted: Wanted<K>,
    missing: number | bigint,
    output: Destination,
    call: CallOptions,
  ): Promise<Expanded<K, V>>;
  /**
   * Of all entries of lists, as `locate` laid them out, leaves those whose flag is 0; answers how many went. The
   * numbers are all different.
   */
  strike(numbers: DeviceArray<"u32">, matches: ListMatches, flags: DeviceArray<"u8">): Promise<number>;
  /**
   * Other lists, of another capacity: list i has what the list with the i-th number has here, and no room is left over.
   * All lists that are not empty are among the numbers, once.
   */
  moved(numbers: DeviceArray<"u32">, capacity: number): Promise<ValueLists<V>>;
  /**
   * Fills lists that are all empty, and of which no number was taken: list i gets the values `offsets[i]` to `offsets[i
   * + 1]`, at least one. They take no more room than that.
   */
  lay(offsets: Uint32Array, values: ColumnInput<V> | null): Promise<void>;
  /** Empties all lists, and takes no number. */
  clear(): Promise<void>;
  /** Frees the memory, when those who `hold` it let it go. Idempotent. */
  destroy(): void;
  /** True while somebody holds the memory: then `strike` and `clear` would change what they read. */
  readonly held: boolean;
  /** Keeps the memory until the answer is called. Appending changes nothing of what `locate` found. */
  hold(): () => void;
}

/** A batch whose keys repeat, and the table that is to give them numbers. */
export interface Groupable<K extends BasicType> {
  readonly table: TableSpec;
  /** Distinct keys at most. */
  readonly distinct: number;
  readonly keys: DeviceArray<K>;
  readonly values: ColumnInput<BasicType> | null;
  /** null where there are none. */
  readonly valueType: BasicType | null;
}

/** A batch as groups of elements with equal keys, in the engine's memory. */
export interface BatchGroups<K extends BasicType> {
  /** The key of each group, roughly in the order of the table's slots; equal keys may have several groups. */
  readonly keys: DeviceArray<K>;
  /** As ValueLists.append, with the number of each group. */
  append(lists: ValueLists, numbers: DeviceArray<"u32">, call: CallOptions): Promise<number | null>;
  /** Frees the memory. */
  destroy(): void;
}

/** What an engine does for lists. */
export interface ListOperations {
  /** NO_LIST: who has the operations needs no module for it. */
  readonly none: number;
  /** Makes lists, all empty. @throws LimitError when they are larger than the engine allows */
  create<V extends BasicType>(spec: ListSpec): Promise<ValueLists<V>>;
  /** Numbers the elements that `where` selects (all unless told) from `first` on, in order. Others get any numbers. */
  number(
    first: number,
    length: number,
    where: ColumnInput<"u8"> | undefined,
  ): Promise<{ numbers: DeviceArray<"u32">; selected: number }>;
  /**
   * Makes groups of a batch where that surely pays, or is asked for by `strategy: "partitioned"`; else null. Engines
   * that gain nothing have no such operation.
   */
  group?<K extends BasicType>(batch: Groupable<K>, call: CallOptions): Promise<BatchGroups<K> | null>;
  /** A copy of a column in the engine's memory. */
  copied<T extends ScalarType>(type: T, input: ColumnInput<T>): Promise<DeviceArray<T>>;
  /** One u64 an element: its number as the upper word, and the lower one of a column whose elements have one word. */
  pair(
    numbers: DeviceArray<"u32">,
    type: BasicType,
    lower: ColumnInput<BasicType>,
  ): Promise<DeviceArray<"u64">>;
}
