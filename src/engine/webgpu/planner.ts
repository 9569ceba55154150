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
const CACHED_TABLE_BYTES = 2 ** 25;
/** Elements from which sorting a batch by parts pays, and bytes of table per element up to which it does. */
const LEAST_PARTED = 2 ** 21;
const MOST_TABLE_BYTES_PER_ELEMENT = 256;
/** Bytes of table per element up to which building all pages pays: each is written once. */
const MOST_BUILT_BYTES_PER_ELEMENT = 64;

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
  if (forced === "partitioned") return asked(buildable ? "pages" : "parts");
  const small = tooSmall(state, count);
  if (small) return small;
  if (buildable && tableBytes(state.spec) <= count * MOST_BUILT_BYTES_PER_ELEMENT) {
    return { way: "pages", reason: "the table is empty and the batch is large: its pages are built" };
  }
  return { way: "parts", reason: "the batch is large and the table larger than the cache" };
}

/** How to erase a chunk. */
export function planErase(state: TableState, count: number, call: CallOptions): Choice {
  const forced = forcedWay(call);
  if (forced) return asked(forced === "direct" ? "direct" : "pages");
  const small = tooSmall(state, count);
  if (small) return small;
  if (tableBytes(state.spec) <= count * MOST_BUILT_BYTES_PER_ELEMENT) {
    return { way: "pages", reason: "the batch is large: every page of the table is worked on" };
  }
  return { way: "parts", reason: "the batch is large and the table larger than the cache" };
}

/** How to look up a chunk. */
export function planLookup(state: TableState, count: number, call: CallOptions): Choice {
  const forced = forcedWay(call);
  if (forced) return asked(forced === "direct" ? "direct" : "parts");
  return (
    tooSmall(state, count) ?? {
      way: "parts",
      reason: "the batch is large and the table larger than the cache",
    }
  );
}

function forcedWay({ strategy = "auto" }: CallOptions): "direct" | "partitioned" | null {
  return strategy === "auto" ? null : strategy;
}

function asked(way: Choice["way"]): Choice {
  return { way, reason: "it was asked for" };
}

function tooSmall(state: TableState, count: number): Choice | null {
  const bytes = tableBytes(state.spec);
  const direct = (reason: string): Choice => ({ way: "direct", reason });
  if (state.host.gpu.software) return direct("a software GPU gains nothing from locality");
  if (bytes <= CACHED_TABLE_BYTES) return direct("the table fits the cache");
  if (count < LEAST_PARTED) return direct("the batch is small");
  if (bytes > count * MOST_TABLE_BYTES_PER_ELEMENT) return direct("the batch is small for the table");
  return null;
}
