/**
 * Results on their way to the host: through staging memory, out of which the host copies them, or into a buffer of the
 * caller's that the host maps.
 */
import { align4, type GpuBuffer, type Readback } from "../../gpu/runtime.js";
import { native } from "../device/recorder.js";

/** Bytes of staging memory that reads take. */
export function bytesOf(reads: readonly Readback[]): number {
  return reads.reduce((sum, { into }) => sum + stagedBytes(into), 0);
}

/** Records the GPU's part. `staging` is null where nothing is staged. */
export function recordReads(
  encoder: GPUCommandEncoder,
  reads: readonly Readback[],
  staging: GpuBuffer | null,
): void {
  let at = 0;
  for (const { buffer, offset, into } of reads) {
    const to = into instanceof Uint8Array ? staging && { buffer: staging, offset: at } : into;
    if (to && into.length > 0)
      encoder.copyBufferToBuffer(native(buffer), offset, native(to.buffer), to.offset, align4(into.length));
    at += stagedBytes(into);
  }
}

export function unpack(mapped: ArrayBuffer, reads: readonly Readback[]): void {
  let at = 0;
  for (const { into } of reads) {
    if (into instanceof Uint8Array) into.set(new Uint8Array(mapped, at, into.length));
    at += stagedBytes(into);
  }
}

function stagedBytes(into: Readback["into"]): number {
  return into instanceof Uint8Array ? align4(into.length) : 0;
}
