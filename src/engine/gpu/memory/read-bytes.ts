import type { GpuRuntime, Readback } from "../runtime.js";

/** Any number of bytes on their way to the host. */

/** Bytes that are brought back at once: two staging buffers of this size take turns. */
const READ_BYTES = 2 ** 24;

/**
 * Brings bytes to the host, in pieces: the next one crosses the link while one is copied. `offset` and the buffer's end
 * are as in Readback.
 */
export async function readBytes(
  gpu: GpuRuntime,
  label: string,
  { buffer, offset, into }: Readback,
): Promise<void> {
  if (!(into instanceof Uint8Array)) return gpu.submit(label, () => {}, [{ buffer, offset, into }]);
  let before: Promise<void> | undefined;
  for (let at = 0; at < into.length; at += READ_BYTES) {
    const piece = into.subarray(at, at + READ_BYTES);
    const { arrived } = await gpu.begin(label, () => {}, [{ buffer, offset: offset + at, into: piece }]);
    await before;
    before = arrived;
  }
  await before;
}
