/** What this machine has. */
import { totalmem } from "node:os";

/** Bytes of memory: of the container, where it has a limit. */
export function machineMemory(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}
