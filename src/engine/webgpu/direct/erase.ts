/** Erasing a chunk's keys. */
import type { BoundChunk } from "../batch/bound-chunk.js";
import type { TableState } from "../table/table-state.js";
import { runOverChunk } from "./rounds.js";

/** Erases a chunk's keys. Answers how many there were. */
export async function eraseChunk(state: TableState, chunk: BoundChunk): Promise<number> {
  const { mask } = chunk;
  const run = { kernel: state.sources.erase, constants: {}, mask, abortable: true };
  return (await runOverChunk(state, chunk, run)).erased;
}
