/**
 * What users' kernels do to a table (src/wgsl/change.wgsl): they count in words of the control buffer that the engine's
 * kernels don't touch, and each call on the table takes the counts in before it begins. So the host's numbers are exact
 * whenever one of its calls runs, and whichever strategy it takes meets a table as it may find any.
 */
import type { Recorder } from "../../gpu/runtime.js";
import { KERNEL_WORDS, MAX_PROBE_WORD, OCCUPIED_WORD, tableCounters } from "./control.js";
import type { TableState } from "./table-state.js";

/** What users' kernels count, from KERNEL_WORDS on. */
const names = ["inserted", "sideInserted", "erased", "sideErased"] as const;
const BYTES = names.length * 4;
const END = KERNEL_WORDS * 4 + BYTES;

/** A `const` for the word of each count, in WGSL. */
export const kernelWords = Object.fromEntries(
  names.map((name, i) => [`${name.toUpperCase()}_WORD`, KERNEL_WORDS + i]),
);

/** Tables that users' kernels may have changed. */
const lent = new WeakSet<TableState>();

/** Says that users' kernels will change a table. */
export function lend(state: TableState): void {
  if (lent.has(state)) return;
  lent.add(state);
  // the memory may have been another buffer's
  state.host.gpu.write(state.buffers.control, KERNEL_WORDS * 4, new Uint8Array(BYTES));
}

/** Takes in what users' kernels did to a table that were submitted until now. */
export async function takeKernelChanges(state: TableState): Promise<void> {
  if (!lent.has(state)) return;
  const { gpu } = state.host;
  const { control } = state.buffers;
  const into = new Uint8Array(END);
  const copy = await gpu.memory.acquire("scratch", { bytes: END, brief: true });
  try {
    // in one submission: no kernel counts between the copy and the zeros
    const take = (recorder: Recorder) => {
      recorder.copy(control, 0, copy, 0, END);
      recorder.clear(control, KERNEL_WORDS * 4, BYTES);
    };
    await gpu.submit("take in", take, [{ buffer: copy, offset: 0, into }]);
  } finally {
    gpu.memory.release(copy);
  }
  const words = new Uint32Array(into.buffer);
  const [inserted, sideInserted, erased, sideErased] = words.subarray(KERNEL_WORDS);
  const none = tableCounters.read(new Uint8Array(tableCounters.bytes));
  const maxProbe = words[MAX_PROBE_WORD];
  state.note({ ...none, inserted, sideInserted, erased, sideErased, maxProbe });
  // kernels put keys where there is room, and erasing keeps the order of homes
  if (inserted > 0) state.homeSorted = false;
  const occupied = Uint32Array.of(words[OCCUPIED_WORD] + inserted - erased);
  gpu.write(control, OCCUPIED_WORD * 4, new Uint8Array(occupied.buffer));
}
