/** What the hardware under an engine can do: facts for those who choose between ways to do a thing. */

export interface EngineTraits {
  /** Most slots of a table; what one memory has at most (layout.ts) unless told. */
  readonly maxSlots?: number;
  /** Bytes of the largest range of memory that a kernel or a loop sees in one piece, below 2^32 on GPUs. */
  readonly maxBinding: number;
  /** Invocations of a subgroup, at least; 0 without subgroup operations. */
  readonly subgroupSize: number;
  /** Atomic operations on 64 bits. */
  readonly atomics64: boolean;
  /** Arithmetic of float64. */
  readonly float64: boolean;
  /** Dispatches of more than about 100 ms are to be cut. */
  readonly needsBoundedDispatch: boolean;
  /** The GPU is emulated on the CPU: work is cut finer, and locality gains nothing. */
  readonly isEmulated: boolean;
}
