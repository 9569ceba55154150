/**
 * The crossovers: from which sizes and loads each strategy pays for a chunk. They were measured
 * (bench/results/crossovers-*.json, those of inserts into tables with entries also in load-factor-*.json, and
 * partitions beside pages in the course of the work on them); what they come from is that a direct operation costs one
 * random access to memory, or several where probes are long, and a partitioned one a few passes over the batch and, for
 * pages, one over the table.
 */
import type { CallOptions } from "../../engine.js";
import { type Choice, SMALL } from "../../gpu/planner.js";
import { isWide, slotFormat, tableBytes } from "../../slot-format.js";
import { loadOf } from "../direct/rounds.js";
import type { Operation } from "../planner.js";
import type { TableState } from "../table/table-state.js";
import { atLoad } from "./by-load.js";
import { looksUpPages } from "./page-lookups.js";

/** Elements from which sorting a chunk to insert pays, by what is done with it then. */
const LEAST_INSERTED = { partitions: 2 ** 24, partitionsAnswered: 2 ** 25, build: 2 ** 23, rebuild: 2 ** 20 };
/** The same of building pages of wide slots, which are claimed in three dispatches where they go directly. */
const LEAST_WIDE_BUILT = 2 ** 21;
/**
 * Bytes of table per element up to which changes pay once sorted: in a larger table too few of them share what is read.
 */
const MOST_PARTITIONED_BYTES = { insert: 96, erase: 192 };
/** Bytes of table per element up to which building all pages pays: each is written as a whole. */
const MOST_BUILT_BYTES = 112;
/**
 * Lookups, by the share of slots that are not EMPTY: the elements from which sorting pays, and the bytes of table per
 * element up to which pages do. The longer probes are, the sooner; where they are short, pages gain nothing. Where
 * pages gain, sorting wide keys pays from half as many elements.
 */
const LOOKUPS = [
  { upTo: 0.82, least: 24 * 2 ** 20, bytes: 0 },
  { upTo: 0.85, least: 24 * 2 ** 20, bytes: 12 },
  { upTo: 0.89, least: 20 * 2 ** 20, bytes: 24 },
  { upTo: 0.93, least: 17 * 2 ** 20, bytes: 34 },
  { upTo: 0.96, least: 14 * 2 ** 20, bytes: 48 },
  { upTo: 1, least: 11 * 2 ** 20, bytes: 70 },
];
/** The same for erases, whose probes of one slot at a time are slow sooner. */
const ERASES = [
  { upTo: 0.88, least: 11 * 2 ** 20, bytes: 32 },
  { upTo: 0.935, least: 5 * 2 ** 20, bytes: 34 },
  { upTo: 0.96, least: 3 * 2 ** 20, bytes: 48 },
  { upTo: 1, least: 2 * 2 ** 20, bytes: 48 },
];
/**
 * Inserts into a table with entries, by its load in the end: the bytes of table per element up to which making its
 * pages anew pays.
 */
const MOST_REBUILT_BYTES = [
  { upTo: 0.6, bytes: 40 },
  { upTo: 0.75, bytes: 64 },
  { upTo: 0.85, bytes: 128 },
  { upTo: 0.88, bytes: 160 },
  { upTo: 0.92, bytes: 240 },
  { upTo: 1, bytes: 900 },
];

const planners = {
  keep: planInsert,
  assign: planInsert,
  add: planApply,
  min: planApply,
  max: planApply,
  and: planApply,
  or: planApply,
  xor: planApply,
  insertAndFind: planInsertAndFind,
  find: planLookup,
  erase: planErase,
};

/** How to work on a chunk that does not go directly at once. */
export function planBulk(
  operation: Operation,
  state: TableState,
  count: number,
  { strategy }: CallOptions,
): Choice {
  return planners[operation](state, count, strategy === "partitioned");
}

function planInsert(state: TableState, count: number, forced: boolean): Choice {
  const empty = state.live === 0;
  const pays = empty ? fits(state, count, MOST_BUILT_BYTES, DIRECT_WIDE) : paysToRebuild(state, count);
  if (forced) return asked(empty || pays ? "pages" : "partitions");
  const { rebuild, partitions } = LEAST_INSERTED;
  const build = isWide(slotFormat(state.spec)) ? LEAST_WIDE_BUILT : LEAST_INSERTED.build;
  if (count < (pays ? (empty ? build : rebuild) : partitions)) return DIRECT;
  if (!pays) return fits(state, count, MOST_PARTITIONED_BYTES.insert) ? PARTITIONED : SPARSE;
  return empty
    ? { strategy: "pages", reason: "the table is empty and the batch is large: its pages are built" }
    : { strategy: "pages", reason: "the table is full enough, and the batch large: its pages are made anew" };
}

function paysToRebuild(state: TableState, count: number): boolean {
  const load = (state.live + count) / state.spec.slots;
  return load <= 1 && fits(state, count, atLoad(load, MOST_REBUILT_BYTES).bytes, DIRECT_WIDE);
}

/** Pages combine values of one word in workgroup memory; wider ones are combined in the table. */
function planApply(state: TableState, count: number, forced: boolean): Choice {
  return isWide(slotFormat(state.spec)) ? planSorted(state, count, forced) : planInsert(state, count, forced);
}

function planErase(state: TableState, count: number, forced: boolean): Choice {
  if (forced) return asked("pages");
  const { least, bytes } = atLoad(loadOf(state), ERASES);
  if (count < least) return DIRECT;
  if (fits(state, count, bytes)) return PAGED;
  return fits(state, count, MOST_PARTITIONED_BYTES.erase) ? PARTITIONED : SPARSE;
}

function planLookup(state: TableState, count: number, forced: boolean): Choice {
  const { least, bytes } = atLoad(loadOf(state), LOOKUPS);
  const sooner = bytes > 0 && isWide(slotFormat(state.spec)) ? 2 : 1;
  if (!forced && count < least / sooner) return DIRECT;
  const choice = looksUpPages(state) && fits(state, count, bytes) ? LOOKED_UP : PARTITIONED;
  return forced ? asked(choice.strategy) : choice;
}

/** How to insert a chunk whose every element answers for itself: pages do not remember where their items come from. */
function planInsertAndFind(state: TableState, count: number, forced: boolean): Choice {
  return planSorted(state, count, forced, LEAST_INSERTED.partitionsAnswered);
}

/** How to insert a chunk without pages. */
function planSorted(
  state: TableState,
  count: number,
  forced: boolean,
  least = LEAST_INSERTED.partitions,
): Choice {
  if (forced) return asked("partitions");
  if (count < least) return DIRECT;
  return fits(state, count, MOST_PARTITIONED_BYTES.insert) ? PARTITIONED : SPARSE;
}

function asked(strategy: Choice["strategy"]): Choice {
  return { strategy, reason: "it was asked for" };
}

/** How much longer direct inserts of wide slots take than those of narrow ones, beyond what their size tells. */
const DIRECT_WIDE = 2;

/**
 * True when the table has so many bytes per element of the chunk at most; of wide slots as many slots as of those of
 * two words.
 * @param wideFactor so many times as many of wide slots
 */
function fits({ spec }: TableState, count: number, mostBytes: number, wideFactor = 1): boolean {
  const format = slotFormat(spec);
  const most = isWide(format) ? (mostBytes * wideFactor * format.slotWords) / 2 : mostBytes;
  return tableBytes(spec) <= count * most;
}

const DIRECT: Choice = { strategy: "direct", reason: SMALL };
const SPARSE: Choice = { strategy: "direct", reason: "the batch is small beside the table" };
const PAGED: Choice = {
  strategy: "pages",
  reason: "the batch is large beside the table: its pages are worked on",
};
const LOOKED_UP: Choice = {
  strategy: "pages",
  reason: "the table is nearly full, and the batch large beside it: its pages are looked up",
};
const PARTITIONED: Choice = {
  strategy: "partitions",
  reason: "the batch is large and the table larger than the cache",
};
