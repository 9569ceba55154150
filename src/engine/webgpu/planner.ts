/**
 * The planner: which strategy a chunk takes. The crossovers were measured (bench/results/crossovers-*.json); what they come
 * from is that a direct operation costs one random access to memory, and a partitioned one a few passes over the batch
 * and, for pages, one over the table.
 */
import type { CallOptions, InsertPolicy } from "../engine.js";
import { tableBytes } from "../layout.js";
import type { TableState } from "./table-state.js";

/**
 * `direct`: the chunk as it is. `parts`: in the order of parts that fit the cache. `pages`: in pages that workgroups own.
 */
export interface Choice {
  way: "direct" | "parts" | "pages";
  reason: string;
}

/** Tables up to this size stay in the caches of GPUs: all of their accesses are local already. */
const CACHED_TABLE_BYTES = 2 ** 26;
/** Elements from which sorting a chunk pays, by what is done with it then. */
const LEAST_PARTED = { find: 2 ** 25, insert: 2 ** 24, build: 2 ** 23, erase: 2 ** 23 };
/** Bytes of table per element up to which working on all pages pays: each is read or written as a whole. */
const MOST_PAGED_BYTES = { build: 64, insert: 64, erase: 24 };

/** How to insert a chunk. */
export function planInsert(
  state: TableState,
  count: number,
  policy: InsertPolicy,
  call: CallOptions,
): Choice {
  const forced = forcedWay(call);
  if (forced === "direct") return asked("direct");
  const buildable = state.live === 0 && state.tombstones === 0 && (policy === "keep" || policy === "assign");
  if (forced === "partitioned") {
    return asked(buildable || workOnPages(state, count, MOST_PAGED_BYTES.insert) ? "pages" : "parts");
  }
  const builds = buildable && workOnPages(state, count, MOST_PAGED_BYTES.build);
  const small = tooSmall(state, count, builds ? LEAST_PARTED.build : LEAST_PARTED.insert);
  if (small) return small;
  if (builds) {
    return { way: "pages", reason: "the table is empty and the batch is large: its pages are built" };
  }
  return workOnPages(state, count, MOST_PAGED_BYTES.insert) ? PAGED : PARTED;
}

/** How to erase a chunk. */
export function planErase(state: TableState, count: number, call: CallOptions): Choice {
  const forced = forcedWay(call);
  if (forced) return asked(forced === "direct" ? "direct" : "pages");
  const small = tooSmall(state, count, LEAST_PARTED.erase);
  if (small) return small;
  if (workOnPages(state, count, MOST_PAGED_BYTES.erase)) {
    return PAGED;
  }
  return PARTED;
}

/** How to look up a chunk. */
export function planLookup(state: TableState, count: number, call: CallOptions): Choice {
  const forced = forcedWay(call);
  if (forced) return asked(forced === "direct" ? "direct" : "parts");
  return tooSmall(state, count, LEAST_PARTED.find) ?? PARTED;
}

function forcedWay({ strategy = "auto" }: CallOptions): "direct" | "partitioned" | null {
  return strategy === "auto" ? null : strategy;
}

function asked(way: Choice["way"]): Choice {
  return { way, reason: "it was asked for" };
}

function workOnPages(state: TableState, count: number, mostBytes: number): boolean {
  return tableBytes(state.spec) <= count * mostBytes;
}

const PAGED: Choice = {
  way: "pages",
  reason: "the batch is large beside the table: its pages are worked on",
};
const PARTED: Choice = { way: "parts", reason: "the batch is large and the table larger than the cache" };

function tooSmall(state: TableState, count: number, least: number): Choice | null {
  const direct = (reason: string): Choice => ({ way: "direct", reason });
  if (state.host.gpu.software) return direct("a software GPU gains nothing from locality");
  if (tableBytes(state.spec) <= CACHED_TABLE_BYTES) return direct("the table fits the cache");
  if (count < least) return direct("the batch is small");
  return null;
}
