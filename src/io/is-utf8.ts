/** Whether bytes are text. */
import { builtin } from "./builtin.js";

/** Whether bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  if (nodeBuffer) return nodeBuffer.isUtf8(bytes);
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

const nodeBuffer = builtin("node:buffer");
