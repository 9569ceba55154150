/** What an engine's hardware can do, as numbers and yes or no: facts for those above the seam who choose between ways to do a thing. */

export interface EngineTraits {
  /** Bytes of a table or a column that one kernel or loop sees in one piece, at most. */
  readonly maxBinding: number;
  /** Compare-and-swap and addition of 64 bits are atomic. */
  readonly atomics64: boolean;
  /** Arithmetic of 64-bit floats. */
  readonly float64: boolean;
  /** Invocations that surely run in lockstep; 1 where that is not known. */
  readonly subgroupSize: number;
  /** A dispatch has to end soon (docs/memory.md#chunks), so that batches are cut by time. */
  readonly needsBoundedDispatch: boolean;
  /** A GPU that is emulated on the CPU. */
  readonly isEmulated: boolean;
}
