/** Saying which elements of an insert were rejected. Loaded by the first insert that asks. */
import type { DeviceArray } from "../../device-array.js";
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import { bindAt, placeOf } from "../../gpu/batch/columns.js";
import { kernelSource, read, readWrite } from "../../gpu/kernel-source.js";
import { wgsl } from "../device/module-code.js";
import type { TableState } from "../table/table-state.js";
import { tableParams } from "./direct-kernels.js";
import type { FullTable } from "./full-table.js";
import { clearFlags } from "./look-up.js";
import code from "./mark-rejected.wgsl";
import { groupSizeAt } from "./rounds.js";

const WORKGROUP = 256;
const kernel = kernelSource("mark rejected", tableParams, [
  wgsl(code, {
    bindings: { mask: read(), present: read(), rejected: readWrite() },
    constants: ["WORKGROUP", "MASKED"],
  }),
]);

/** Zeroes the mask of rejected elements: chunks that reject none leave theirs as it is. */
export async function clearRejected({ host }: TableState, rejected: DeviceArray<"u8">): Promise<void> {
  const { length } = rejected;
  const { buffer, byteOffset } = placeOf(rejected);
  const mask = bindAt(buffer, byteOffset, length);
  await host.gpu.submit("clear rejected", (recorder) => clearFlags(recorder, mask, length));
}

/**
 * Allocates and compiles, before anything changes, what it takes to leave 1 in `rejected` for the elements of a chunk
 * that the mask selects and whose keys are not in the table, and 0 for the others; the answer does it.
 */
export async function prepareMark(
  full: FullTable,
  chunk: BoundChunk,
  rejected: DeviceArray<"u8">,
): Promise<() => Promise<void>> {
  const { gpu } = full.state.host;
  const { count, mask } = chunk;
  // one that goes with the load would ask for other kernels when the table is full
  const sized = { ...chunk, groupSize: chunk.groupSize ?? groupSizeAt(full.state, true) };
  const to = await chunk.scratch.input("u8", rejected, chunk);
  const present = await full.prepare(sized);
  const compiled = await gpu.compile(kernel, { WORKGROUP, MASKED: mask !== undefined });
  const bindings = { mask: mask?.range, present: present.range, rejected: to.range };
  const shifts = { maskShift: mask?.shift, valueShift: present.shift, flagShift: to.shift };
  return async () => {
    await full.countPresent(sized, present);
    await gpu.submit("mark rejected", (recorder) =>
      recorder.dispatch(compiled, bindings, { count, ...shifts }, Math.ceil(count / 4 / WORKGROUP)),
    );
  };
}
