import { LimitError } from "../../errors.js";
import type { GpuRuntime } from "./runtime.js";

/** @throws LimitError when so many bytes cannot be bound at once. */
export function checkBinding({ traits }: GpuRuntime, bytes: number, fix: string): void {
  const most = traits.maxBinding;
  if (bytes > most) throw new LimitError("maxStorageBufferBindingSize", bytes, most, fix);
}
