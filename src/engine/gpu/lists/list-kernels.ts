/** The kernels over lists: which fragments make them up, and what their dispatches are told. */
import { slotFormat } from "../../slot-format.js";
import { GROWN, MISSING, MOST_PIECES, NO_LIST } from "../../value-lists.js";
import { itemCode } from "../../webgpu/partitioned/item-code.js";
import type { ItemKind } from "../../webgpu/partitioned/partition-params.js";
import floatKeys from "../../webgpu/table/float-keys.wgsl";
import { selected } from "../../webgpu/table/selected.js";
import scanCode from "../../webgpu/wgsl/groups/scan.wgsl";
import scanAddCode from "../../webgpu/wgsl/groups/scan-add.wgsl";
import addressCode from "../../webgpu/wgsl/lists/address.wgsl";
import aimCode from "../../webgpu/wgsl/lists/aim.wgsl";
import allotCode from "../../webgpu/wgsl/lists/allot.wgsl";
import beginCode from "../../webgpu/wgsl/lists/begin.wgsl";
import countUpCode from "../../webgpu/wgsl/lists/count-up.wgsl";
import dropCode from "../../webgpu/wgsl/lists/drop.wgsl";
import expandCode from "../../webgpu/wgsl/lists/expand.wgsl";
import flagRowsCode from "../../webgpu/wgsl/lists/flag-rows.wgsl";
import groupKeysCode from "../../webgpu/wgsl/lists/group-keys.wgsl";
import headListsCode from "../../webgpu/wgsl/lists/head-lists.wgsl";
import itemTilesCode from "../../webgpu/wgsl/lists/item-tiles.wgsl";
import listsCode from "../../webgpu/wgsl/lists/lists.wgsl";
import locateCode from "../../webgpu/wgsl/lists/locate.wgsl";
import lookUpCode from "../../webgpu/wgsl/lists/look-up.wgsl";
import pairCode from "../../webgpu/wgsl/lists/pair.wgsl";
import putCode from "../../webgpu/wgsl/lists/put.wgsl";
import putGroupsCode from "../../webgpu/wgsl/lists/put-groups.wgsl";
import settleCode from "../../webgpu/wgsl/lists/settle.wgsl";
import shortenCode from "../../webgpu/wgsl/lists/shorten.wgsl";
import stayCode from "../../webgpu/wgsl/lists/stay.wgsl";
import storedCode from "../../webgpu/wgsl/lists/stored.wgsl";
import tallyCode from "../../webgpu/wgsl/lists/tally.wgsl";
import tallyGroupsCode from "../../webgpu/wgsl/lists/tally-groups.wgsl";
import { countersOf } from "../counters.js";
import { totalling } from "../groups/totals.js";
import {
  constantLines,
  type Fragment,
  fragment,
  type KernelSource,
  kernelSource,
  read,
  readWrite,
} from "../kernel-source.js";

/** What a dispatch is told. */
export const listParams = [
  /** Elements (entries, lists) first .. first + count are this dispatch's. Columns that are bound by chunk begin with the first. */
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
  /** Groups of equal keys. */
  "groups",
  /** Entries of a result, 64 bits. */
  "totalLow",
  "totalHigh",
]);

/** Elements that one workgroup takes, by the kernel. */
export const TILE = 256;
export const TALLY_TILE = 512;
export const LOOK_UP_TILE = 1024;
export const EXPAND_TILE = 1024;
/** Those of a workgroup that groups items: at least, so that equal keys meet, and at most, so that a rank fits its place (item-tiles.wgsl). */
export const LEAST_TILE = 4096;
export const MOST_TILE = 2 ** 20;

const lists = fragment(`${constantLines({ NO_LIST, GROWN, MISSING })}\n${listsCode}`, {
  constants: [
    /** Words of a head: 2, or 1 where there are no values. */
    "HEAD",
  ],
});
const constants = constantLines({ MOST_PIECES });
const address = [
  fragment(constants),
  fragment(addressCode, { bindings: { records: read("array<vec4u>") } }),
] as const;
const stored = [
  fragment(floatKeys),
  fragment(storedCode, { bindings: { keys: read() }, constants: ["FLOAT_KEYS"] }),
] as const;
const { control } = listCounters;
const scanned = { bindings: { words: readWrite(), tileSums: readWrite() } };
const heads = fragment("", { bindings: { numbers: read(), heads: read() } });
const room = fragment("", { bindings: { room: read() }, constants: ["VALUE_WORDS"] });
const roomToWrite = fragment("", { bindings: { room: readWrite() }, constants: ["VALUE_WORDS"] });

function kernel<B extends string, C extends string>(
  label: string,
  fragments: readonly Fragment<B, C>[],
): KernelSource<keyof ListParams, B, C> {
  return kernelSource(label, listParams, fragments) as KernelSource<keyof ListParams, B, C>;
}

export const scan = kernel("scan", [lists, fragment(scanCode, scanned)]);
export const scanAdd = kernel("scan add", [lists, fragment(scanAddCode, scanned)]);

/** 1 for each selected element, behind a word that is left free. */
export const flagRows = kernel("flag rows", [
  lists,
  selected,
  fragment(flagRowsCode, { bindings: { words: readWrite() } }),
]);

/** Numbers in order. */
export const countUp = kernel("count up", [
  lists,
  fragment(countUpCode, { bindings: { words: readWrite() } }),
]);

/** Makes elements the only entries of lists. */
export const begin = kernel("begin lists", [
  lists,
  selected,
  fragment(beginCode, { bindings: { numbers: read(), values: read(), heads: readWrite() } }),
  roomToWrite,
]);

/** Counts the elements of a batch by list, and ranks them. */
export const tally = kernel("tally", [
  lists,
  control,
  fragment(tallyCode, {
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
export const allot = kernel("allot", [
  lists,
  control,
  fragment(allotCode, {
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
  fragment(putCode, { bindings: { added: read(), ranks: read(), values: read() } }),
]);

/** Tables whose batches are grouped: keys of one word, and values, which are numbers. */
const KEYED_LISTS = slotFormat({ key: "u32", value: "u32" });

/** The bindings of grouped items. */
const grouped = (kind: ItemKind, access = read) => [
  fragment(`alias Key = u32;${itemCode(KEYED_LISTS, kind)}`),
  fragment(itemTilesCode, {
    bindings: { ranges: read(), items: read("array<Item>"), places: access(), tileGroups: access() },
  }),
];

/** Makes groups of items with equal keys. */
const grouping = (kind: ItemKind) =>
  kernel("group keys", [
    lists,
    control,
    ...grouped(kind, readWrite),
    fragment(groupKeysCode, {
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
  fragment(tallyGroupsCode, {
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
export const aim = kernel("aim", [
  lists,
  heads,
  ...address,
  fragment(aimCode, {
    bindings: {
      added: read(),
      ranks: read(),
      targets: readWrite("array<vec2u>"),
      befores: readWrite(),
    },
  }),
]);

/** Writes the values of groups there. */
export const putGroups = kernel("put groups", [
  lists,
  ...grouped("pair"),
  fragment(putGroupsCode, {
    bindings: { targets: read("array<vec2u>"), befores: read(), room: readWrite() },
  }),
]);

/** Zeroes tallies. */
export const settle = kernel("settle", [
  lists,
  fragment(settleCode, { bindings: { numbers: read(), ranks: read(), added: readWrite() } }),
]);

/** Lengths, flags or first entries. */
export const lookUp = kernel("look up lists", [
  lists,
  heads,
  ...address,
  ...stored,
  fragment(lookUpCode, {
    bindings: { room: read(), out: readWrite(), flags: readWrite() },
    constants: ["SIZED", "VALUED", "FLAGGED", "OUT_WORDS"],
  }),
]);

/** Empties lists. */
export const drop = kernel("drop lists", [
  lists,
  control,
  fragment(dropCode, { bindings: { numbers: read(), heads: readWrite("array<atomic<u32>>") } }),
]);

/** Lengths and places of lists. */
export const locate = kernel("locate lists", [
  lists,
  heads,
  selected,
  control,
  totalling,
  fragment(locateCode, { bindings: { offsets: readWrite(), places: readWrite() }, constants: ["OUTER"] }),
]);

/** Writes entries. */
export const expand = kernel("expand lists", [
  lists,
  room,
  ...address,
  ...stored,
  fragment(expandCode, {
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
  fragment(headListsCode, { bindings: { offsets: read(), heads: readWrite() } }),
]);

/** A number and a value as one element. */
export const pair = kernel("pair", [
  lists,
  fragment(pairCode, { bindings: { numbers: read(), values: read(), pairs: readWrite() } }),
]);

/** Closes gaps. */
export const stay = kernel("close gaps", [
  lists,
  ...address,
  roomToWrite,
  fragment(stayCode, {
    bindings: { struck: read(), queries: read(), places: read(), offsets: read(), copies: read() },
  }),
]);

/** Lengths after gaps were closed. */
export const shorten = kernel("shorten lists", [
  lists,
  control,
  fragment(shortenCode, {
    bindings: { numbers: read(), offsets: read(), struck: read(), heads: readWrite() },
  }),
]);
