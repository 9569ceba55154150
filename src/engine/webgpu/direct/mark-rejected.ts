/** Saying which elements of an insert were rejected. Loaded by the first insert that asks. */
import type { BoundChunk } from "../batch/bound-chunk.js";
import type { Column } from "../batch/columns.js";
import { fragment, kernelSource, read, readWrite } from "../device/kernel-source.js";
import { tableParams } from "./direct-kernels.js";
import type { FullTable } from "./full-table.js";
import code from "./mark-rejected.wgsl";

const WORKGROUP = 256;
const kernel = kernelSource("mark rejected", tableParams, [
  fragment(code, {
    bindings: { mask: read(), present: read(), rejected: readWrite() },
    constants: ["WORKGROUP", "MASKED"],
  }),
]);

/**
 * Allocates and compiles, before anything changes, what it takes to leave 1 in `rejected` for the elements of a chunk that the mask
 * selects and whose keys are not in the table, and 0 for the others; the answer does it.
 */
export async function prepareMark(
  full: FullTable,
  chunk: BoundChunk,
  rejected: Column,
): Promise<() => Promise<void>> {
  const { gpu, kernels } = full.state.host;
  const { count, mask } = chunk;
  const present = await full.prepare(chunk);
  const compiled = await kernels.compile(kernel, { WORKGROUP, MASKED: mask !== undefined });
  const bindings = { mask: mask?.range, present: present.range, rejected: rejected.range };
  const shifts = { maskShift: mask?.shift, valueShift: present.shift, flagShift: rejected.shift };
  return async () => {
    await full.countRejected(chunk, { selected: count, rejected: 0, rest: null }, present);
    await gpu.submit("mark rejected", (encoder) =>
      compiled.record(encoder, bindings, { count, ...shifts }, Math.ceil(count / 4 / WORKGROUP)),
    );
  };
}
