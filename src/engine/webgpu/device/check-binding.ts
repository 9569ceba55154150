import { LimitError } from "../../../errors.js";
import type { Gpu } from "./gpu.js";

/** @throws LimitError when so many bytes cannot be bound at once. */
export function checkBinding({ device }: Gpu, bytes: number, fix: string): void {
  const most = device.limits.maxStorageBufferBindingSize;
  if (bytes > most) throw new LimitError("maxStorageBufferBindingSize", bytes, most, fix);
}
