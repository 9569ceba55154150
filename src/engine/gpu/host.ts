/** What the parts of a GPU engine need of it. */
import type { Engine } from "../engine.js";
import type { Pacer } from "./pacer.js";
import type { Partitioning } from "./partitioning.js";
import type { GpuRuntime } from "./runtime.js";
import type { Tuning } from "./tuning.js";

export interface GpuHost {
  readonly engine: Engine;
  readonly gpu: GpuRuntime;
  readonly pacer: Pacer;
  readonly tuning: Tuning;
  /** Elements of a chunk at most when its columns cross the bus. */
  readonly hostChunk: number;
  /** Bytes of the largest range of a table, or of its entries, that is bound at once. */
  readonly maxTableBinding: number;
  /** What brings keys into the order of a table's slots; absent where the engine does not. */
  readonly partitioning?: () => Promise<Partitioning>;
}
