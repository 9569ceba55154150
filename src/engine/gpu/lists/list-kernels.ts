/** The kernels over lists: which fragments make them up, and what their dispatches are told. */
import { GROWN, MISSING, MOST_PIECES, NO_LIST } from "../../value-lists.js";
import { countersOf } from "../counters.js";
import { totalling } from "../groups/totals.js";
import {
  type Fragment,
  fragment,
  type KernelSource,
  kernelSource,
  read,
  readWrite,
} from "../kernel-source.js";
import type { ItemKind } from "../partitioning.js";
import { selected } from "../selected.js";

export const listParams = [
  /**
   * Elements (entries, lists) first .. first + count are this dispatch's. Columns that are bound by chunk begin with
   * the first.
   */
  "first",
  "count",
  /** Words of a column before the first element that is bound. */
  "numbersShift",
  "maskShift",
  "valuesShift",
  "keysShift",
  "outShift",
  "keysOutShift",
  "flagsShift",
  /** Elements of the whole array, for scans and searches. */
  "total",
  /** The first unused address, number or record. */
  "base",
  "firstNumber",
  "recordBase",
  /** A new piece has room for this part of the entries before it. */
  "growth",
  /** Items that a page has room for, 0 where pages lie one after another; items of a tile. */
  "pageRoom",
  "tile",
  /** Words of what is written for absent keys. */
  "missingLow",
  "missingHigh",
] as const;

/** Values of the parameters; those left out are 0. */
export type ListParams = { readonly [N in (typeof listParams)[number]]?: number };

/** What kernels over lists count, in one step of a call. */
export const listCounters = countersOf("ListControl", [
  /** Elements that have a list, or entries that were dropped. */
  "entries",
  /** Lists that had no entry and have one, or the other way round. */
  "filled",
  /** Room and records that were allotted. */
  "room",
  "records",
  /** Entries of a result: 64 bits, at a multiple of 8 bytes. */
  "totalLow",
  "totalHigh",
  /** Groups of equal keys. */
  "groups",
]);

/** Elements that one workgroup takes, by the kernel. */
export const TILE = 256;
export const TALLY_TILE = 512;
export const LOOK_UP_TILE = 1024;
export const EXPAND_TILE = 1024;
/**
 * Those of a workgroup that groups items: at least, so that equal keys meet, and at most, so that a rank fits its place
 * (item-tiles.wgsl).
 */
export const LEAST_TILE = 4096;
export const MOST_TILE = 2 ** 20;

const lists = fragment("lists/lists", {
  values: { NO_LIST, GROWN, MISSING },
  constants: [
    /** Words of a head: 2, or 1 where there are no values. */
    "HEAD",
  ],
});
const address = [
  fragment("lists/address", { values: { MOST_PIECES }, bindings: { records: read("array<vec4u>") } }),
] as const;
const stored = [
  fragment("table/float-keys"),
  fragment("lists/stored", { bindings: { keys: read() }, constants: ["FLOAT_KEYS"] }),
] as const;
const { control } = listCounters;
const heads = fragment("", { bindings: { numbers: read(), heads: read() } });
const room = fragment("", { bindings: { room: read() }, constants: ["VALUE_WORDS"] });
const roomToWrite = fragment("", { bindings: { room: readWrite() }, constants: ["VALUE_WORDS"] });

function kernel<B extends string, C extends string>(
  label: string,
  fragments: readonly Fragment<B, C>[],
): KernelSource<keyof ListParams, B, C> {
  return kernelSource(label, listParams, fragments) as KernelSource<keyof ListParams, B, C>;
}

/** 1 for each selected element, behind a word that is left free. */
export const flagRows = kernel("flag rows", [
  lists,
  selected,
  fragment("lists/flag-rows", { bindings: { words: readWrite() } }),
]);

export const countUp = kernel("count up", [
  lists,
  fragment("lists/count-up", { bindings: { words: readWrite() } }),
]);

/** Makes elements the only entries of lists. */
export const initLists = kernel("init lists", [
  lists,
  selected,
  fragment("lists/init-lists", { bindings: { numbers: read(), values: read(), heads: readWrite() } }),
  roomToWrite,
]);

/** Counts the elements of a batch by list, and ranks them. */
export const tally = kernel("tally", [
  lists,
  control,
  fragment("lists/tally", {
    bindings: { numbers: read(), tallies: readWrite("array<atomic<u32>>"), ranks: readWrite() },
    constants: [
      /** Ranks are wanted. */
      "RANKED",
      /** The tallies are the lengths: those of 0 are empty lists. */
      "COUNTS_LISTS",
    ],
  }),
]);

/** Makes room at the ends of lists, or sums up how much there is to make. */
export const allocatePieces = kernel("allocate pieces", [
  lists,
  control,
  fragment("lists/allocate-pieces", {
    bindings: {
      numbers: read(),
      ranks: read(),
      added: readWrite(),
      heads: readWrite(),
      records: readWrite("array<vec4u>"),
    },
    constants: ["MEASURES"],
  }),
]);

/** Writes values where there is room for them now. */
export const put = kernel("put values", [
  lists,
  heads,
  ...address,
  roomToWrite,
  fragment("lists/put", { bindings: { added: read(), ranks: read(), values: read() } }),
]);

const grouped = (kind: ItemKind, access = read) => [
  fragment(`lists/${kind}-items`),
  fragment("lists/item-tiles", {
    bindings: { ranges: read(), items: read("array<Item>"), places: access(), tileGroups: access() },
  }),
];

const grouping = (kind: ItemKind) =>
  kernel("group keys", [
    lists,
    control,
    ...grouped(kind, readWrite),
    fragment("lists/group-keys", {
      bindings: { groupKeys: readWrite(), sizes: readWrite() },
      constants: [
        /** Values are to follow. */
        "VALUED",
      ],
    }),
  ]);
export const groupKeys = { key: grouping("key"), pair: grouping("pair") };

/** Counts groups by list, and ranks them. */
export const tallyGroups = kernel("tally groups", [
  lists,
  control,
  fragment("lists/tally-groups", {
    bindings: {
      numbers: read(),
      sizes: read(),
      tallies: readWrite("array<atomic<u32>>"),
      ranks: readWrite(),
    },
    constants: ["RANKED", "COUNTS_LISTS"],
  }),
]);

/** Where the values of groups go. */
export const resolveTargets = kernel("resolve targets", [
  lists,
  heads,
  ...address,
  fragment("lists/resolve-targets", {
    bindings: {
      added: read(),
      ranks: read(),
      targets: readWrite("array<vec2u>"),
      befores: readWrite(),
    },
  }),
]);

export const putGroups = kernel("put groups", [
  lists,
  ...grouped("pair"),
  fragment("lists/put-groups", {
    bindings: { targets: read("array<vec2u>"), befores: read(), room: readWrite() },
  }),
]);

export const resetTallies = kernel("reset tallies", [
  lists,
  fragment("lists/reset-tallies", { bindings: { numbers: read(), ranks: read(), added: readWrite() } }),
]);

/** Lengths, flags or first entries. */
export const lookUp = kernel("look up lists", [
  lists,
  heads,
  ...address,
  ...stored,
  fragment("lists/look-up", {
    bindings: { room: read(), out: readWrite(), flags: readWrite() },
    constants: ["SIZED", "VALUED", "FLAGGED", "OUT_WORDS"],
  }),
]);

export const drop = kernel("drop lists", [
  lists,
  control,
  fragment("lists/drop", { bindings: { numbers: read(), heads: readWrite("array<atomic<u32>>") } }),
]);

/** Lengths and places of lists. */
export const locate = kernel("locate lists", [
  lists,
  heads,
  selected,
  control,
  totalling,
  fragment("lists/locate", { bindings: { offsets: readWrite(), places: readWrite() }, constants: ["OUTER"] }),
]);

export const expand = kernel("expand lists", [
  lists,
  room,
  ...address,
  ...stored,
  fragment("lists/expand", {
    bindings: {
      offsets: read(),
      places: read(),
      outQueries: readWrite(),
      outKeys: readWrite(),
      outValues: readWrite(),
    },
    constants: ["QUERIES", "KEY_WORDS"],
  }),
]);

/** Heads of lists without room left over. */
export const headLists = kernel("head lists", [
  lists,
  fragment("lists/head-lists", { bindings: { offsets: read(), heads: readWrite() } }),
]);

/** A number and a value as one element. */
export const pair = kernel("pair", [
  lists,
  fragment("lists/pair", { bindings: { numbers: read(), values: read(), pairs: readWrite() } }),
]);

/** Closes gaps. */
export const compactEntries = kernel("compact entries", [
  lists,
  ...address,
  roomToWrite,
  fragment("lists/compact-entries", {
    bindings: { struck: read(), queries: read(), places: read(), offsets: read(), copies: read() },
  }),
]);

/** Lengths after gaps were closed. */
export const shorten = kernel("shorten lists", [
  lists,
  control,
  fragment("lists/shorten", {
    bindings: { numbers: read(), offsets: read(), struck: read(), heads: readWrite() },
  }),
]);
