/**
 * The option of operators whose inputs may be larger than memory. Operators of such inputs are loaded when it is asked
 * for.
 */
import { check, checkCallbacks, checkOptions } from "../options.js";

/**
 * How much memory an operator may take, and where rows go that find no place in it. Needs files: Node alone has them.
 */
export interface MemoryOptions {
  /**
   * Bytes that the operator keeps its arrays within, at least 2^20, those included that nobody uses any more. What a
   * process takes besides (Node, code, JavaScript's heap) comes on top: docs/larger-than-memory.md says how much. The
   * work is done by the calling thread, on the cpu engine, unless the call names a device, whose threads or GPU have
   * memory of their own.
   */
  readonly limit: number;
  /** A folder for temporary files. Default: the system's. */
  readonly folder?: string;
  /** Told once, at the end, what was written to temporary files. */
  readonly onSpill?: (report: SpillReport) => void;
}

/** What an operator wrote to temporary files. */
export interface SpillReport {
  /** Bytes written in all. */
  readonly bytes: number;
  /**
   * Parts that the inputs were cut into, those of parts that were cut again included; 0 where all fitted into memory.
   */
  readonly partitions: number;
  /** How many times a part was cut again, 0 for the inputs: the most of all parts. */
  readonly depth: number;
}

/** Below that the pieces that files are written in get too small. */
export const LEAST_LIMIT = 2 ** 20;

/** @throws ValidationError for what are no such options */
export function checkMemory(memory: MemoryOptions): MemoryOptions {
  check(typeof memory === "object" && memory !== null, "memory", memory, "Give { limit: 2 ** 29 }.");
  checkOptions(memory, "limit folder onSpill");
  const { limit, folder, onSpill } = memory;
  const isLimit = typeof limit === "number" && limit >= LEAST_LIMIT;
  check(isLimit, "memory.limit", limit, `Give a number of bytes of at least ${LEAST_LIMIT}.`);
  const isFolder = folder === undefined || (typeof folder === "string" && folder !== "");
  check(isFolder, "memory.folder", folder, "Give the path of a folder.");
  checkCallbacks({ signal: undefined, onSpill });
  return memory;
}

/** For inputs that come in batches where nobody limits memory. */
export const NO_LIMIT: MemoryOptions = { limit: Number.POSITIVE_INFINITY };
