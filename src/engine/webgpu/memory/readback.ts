/**
 * Results on their way to the host: through staging memory, out of which the host copies them, or into a buffer of the caller's
 * that the host maps.
 */

/** Whole words. Bytes may be more than 2^31, so no bit operations. */
export const align4 = (bytes: number): number => Math.ceil(bytes / 4) * 4;

/** A piece of a buffer that a submission brings back to the host. */
export interface Readback {
  buffer: GPUBuffer;
  /** Bytes into `buffer`, a multiple of 4. */
  offset: number;
  /** Where the bytes go. Any length; the buffer must reach to the next multiple of 4. */
  into: Uint8Array | PinnedPiece;
}

/** `length` bytes of a buffer that the host maps later: reading back into it is the GPU's copy alone. */
export interface PinnedPiece {
  buffer: GPUBuffer;
  offset: number;
  length: number;
}

/** Bytes of staging memory that reads take. */
export function bytesOf(reads: readonly Readback[]): number {
  return reads.reduce((sum, { into }) => sum + stagedBytes(into), 0);
}

/** Records the GPU's part. `staging` is null where nothing is staged. */
export function recordReads(
  encoder: GPUCommandEncoder,
  reads: readonly Readback[],
  staging: GPUBuffer | null,
): void {
  let at = 0;
  for (const { buffer, offset, into } of reads) {
    const to = into instanceof Uint8Array ? staging && { buffer: staging, offset: at } : into;
    if (to && into.length > 0)
      encoder.copyBufferToBuffer(buffer, offset, to.buffer, to.offset, align4(into.length));
    at += stagedBytes(into);
  }
}

/** Copies what was staged to where it goes. */
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
