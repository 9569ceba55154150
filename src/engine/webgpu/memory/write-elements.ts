/** DeviceArray.write on a GPU. Loaded on first use. */
import { ValidationError } from "../../../errors.js";
import type { Gpu } from "../device/gpu.js";
import { BufferUsage } from "../device/gpu-flags.js";
import { align4 } from "./readback.js";

/** Overwrites bytes of a buffer. Buffers are written in words: of a word that `data` covers in part, the rest stays as it is. */
export async function writeElements(
  gpu: Gpu,
  buffer: GPUBuffer,
  offset: number,
  data: Uint8Array,
): Promise<void> {
  if (data.length === 0) return;
  const before = offset % 4;
  const length = align4(before + data.length);
  const isWhole = before === 0 && length === data.length;
  checkUsage(buffer, "COPY_DST");
  if (isWhole) return gpu.upload(buffer, offset, data);
  checkUsage(buffer, "COPY_SRC");
  const words = new Uint8Array(length);
  const word = async (at: number) => {
    await gpu.read("write", { buffer, offset: offset - before + at, into: words.subarray(at, at + 4) });
  };
  const partial = new Set<number>();
  if (before > 0) partial.add(0);
  if ((before + data.length) % 4 > 0) partial.add(length - 4);
  await Promise.all([...partial].map(word));
  words.set(data, before);
  await gpu.upload(buffer, offset - before, words);
}

function checkUsage(buffer: GPUBuffer, usage: "COPY_SRC" | "COPY_DST"): void {
  if (buffer.usage & BufferUsage[usage]) return;
  throw new ValidationError(
    `This buffer's usage lacks ${usage}, so it cannot be written.`,
    `Create it with ${usage}.`,
  );
}
