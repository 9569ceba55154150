/**
 * The loops over slots of one word of key and at most one of value: sequential.ts on the calling thread, parallel.ts on
 * several. Both give the same results.
 */
import type { CpuEngine } from "../cpu-engine.js";
import type { TableMemory } from "./blocks.js";
import type { ChunkWork } from "./chunks.js";
import { FullTable } from "./full-table.js";
import { collectSlots, NarrowMeasurement } from "./scan.js";
import { type Chunk, type Columns, eraseChunk, findChunk, insertChunk } from "./sequential.js";
import type { SlotLoops } from "./slot-loops.js";

const NO_WORDS = new Uint32Array(0);

/** A chunk whose keys are one column. */
const narrow = ({ keys, ...chunk }: Chunk<Columns>): Chunk => ({ ...chunk, keys: keys[0] });

type Recount = <T>(change: () => Promise<T>) => Promise<T>;

/** @param recountOnError runs a change on several threads, and counts the table anew when it fails midway. */
export const narrowLoops = (
  { sharing, workspace: { block } }: CpuEngine,
  recountOnError: Recount,
): SlotLoops => ({
  insert(at, { values, stored, ...rest }) {
    const { table, counters } = at;
    const columns = { ...rest, values: values[0] ?? NO_WORDS, stored: stored[0] ?? NO_WORDS };
    const full = new FullTable(at, columns);
    return {
      ...shared(table, {
        length: (left, forced) => sharing.changeLength(left, table.slotCount - counters.mainLive, forced),
        run: (chunk) => recountOnError(async () => (await sharing.load()).insert(at, narrow(chunk), columns)),
      }),
      alone: (chunk) => insertChunk(at, narrow(chunk), columns, block, full),
    };
  },
  find(table, maxProbe, { found, values, missing }) {
    const columns = { found, values: values[0] ?? NO_WORDS, missing: missing[0]?.[0] ?? 0 };
    return {
      ...shared(table, {
        length: (left, forced) => sharing.lookUpLength(left, forced),
        run: async (chunk) => (await sharing.load()).find(table, maxProbe, narrow(chunk), columns),
      }),
      alone: (chunk) => findChunk(table, maxProbe, narrow(chunk), columns, block),
    };
  },
  erase: (at) => ({
    ...shared(at.table, {
      length: (left, forced) => sharing.changeLength(left, left, forced),
      run: (chunk) => recountOnError(async () => (await sharing.load()).erase(at, narrow(chunk))),
    }),
    alone: (chunk) => eraseChunk(at, narrow(chunk), block),
  }),
  collectSlots,
  measurement: (table) => new NarrowMeasurement(table, block),
});

/**
 * How chunks are shared; not at all where workers lack the hash function: a function's text would leave its
 * surroundings behind.
 */
function shared(
  { own }: TableMemory,
  how: NonNullable<ChunkWork["shared"]>,
): Pick<ChunkWork, "shared" | "whyAlone"> {
  return own
    ? { whyAlone: "the hash function is the caller's own, and runs on the calling thread" }
    : { shared: how };
}
