/** What toBytes made, with a deliberate fault. */
import { xxh32 } from "../../../src/xxh32.js";

/** The bytes with some changed, and a checksum that is right again. */
export function forged(bytes: Uint8Array, change: (view: DataView) => void): Uint8Array {
  const copy = bytes.slice();
  const view = new DataView(copy.buffer);
  change(view);
  view.setUint32(12, xxh32(copy.subarray(16)), true);
  return copy;
}
