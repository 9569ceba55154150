/** Where a byte is in many. */
import { builtin } from "../builtin.js";

/** The first place of a byte, -1 where it is not. Node's own search is ten times as fast as a loop. */
export function findByte(bytes: Uint8Array, code: number): number {
  return nodeBuffer ? nodeBuffer.prototype.indexOf.call(bytes, code) : bytes.indexOf(code);
}

const nodeBuffer = builtin("node:buffer")?.Buffer;
