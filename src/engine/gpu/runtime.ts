/**
 * GpuRuntime: what the engines of GPUs ask of a way to reach one (WebGPU, CUDA). It has memory, compiled kernels, and
 * submissions that run in their order. It knows nothing of tables, and nothing above it knows its API: buffers are
 * handles, and commands go through a Recorder.
 *
 * A submission that is refused, or whose device is lost, rejects its `arrived`; what was submitted before it is not
 * undone.
 */
import type { PlanLog } from "../plan-log.js";
import type { EngineTraits } from "../traits.js";
import type { Constants, KernelSource } from "./kernel-source.js";
import type { GpuMemory } from "./memory/gpu-memory.js";

/** Memory of a GPU; its runtime alone looks into it. */
export interface GpuBuffer {
  readonly size: number;
}

/** A range of a buffer for a binding. */
export interface Range {
  buffer: GpuBuffer;
  /** Bytes, a multiple of 256. */
  offset?: number;
  /** Bytes; the rest of the buffer unless told. */
  size?: number;
}

/** A piece of a buffer that a submission brings back to the host. */
export interface Readback {
  buffer: GpuBuffer;
  /** Bytes into `buffer`, a multiple of 4. */
  offset: number;
  /** Where the bytes go. Any length; the buffer must reach to the next multiple of 4. */
  into: Uint8Array | PinnedPiece;
}

/** `length` bytes of memory that the host maps later: reading back into it is the GPU's copy alone. */
export interface PinnedPiece {
  buffer: GpuBuffer;
  offset: number;
  length: number;
}

/** Values of parameters by name; those left out are 0. */
export type Params<P extends string> = { readonly [N in P]?: number | undefined };
/** The same in one object or in several, of which the first that has a value counts: joining them takes longer. */
export type ParamLayers<P extends string> = Params<P> | readonly Params<P>[];
/** Ranges by binding name; what a specialisation does not use is left out. */
export type Bindings<B extends string> = { readonly [N in B]?: Range | undefined };

/** A kernel that its runtime has compiled. */
export interface Kernel<P extends string = string, B extends string = string> {
  readonly source: KernelSource<P, B>;
}

/** Takes a submission's commands, which run one after another. */
export interface Recorder {
  /**
   * Runs a kernel.
   * @param workgroups any number up to 65,535², laid out as a grid that covers at least that many; or the grid, x and
   * y, of at most 65,535 each
   */
  dispatch<P extends string, B extends string>(
    kernel: Kernel<P, B>,
    bindings: Bindings<B>,
    params: ParamLayers<P>,
    workgroups: number | readonly [number, number],
  ): void;
  /** Zeroes bytes, all from `offset` on unless told. */
  clear(buffer: GpuBuffer, offset?: number, bytes?: number): void;
  copy(from: GpuBuffer, fromByte: number, to: GpuBuffer, toByte: number, bytes: number): void;
}

export type Recording = (recorder: Recorder) => void;

export interface Submitter {
  /**
   * Submits commands, and brings `reads` back; resolves when these have arrived, or without any when the commands were
   * accepted.
   */
  submit(label: string, record: Recording, reads?: readonly Readback[]): Promise<void>;
  /** As `submit`, but resolves when the commands are submitted; `arrived` resolves as `submit` does. */
  begin(label: string, record: Recording, reads: readonly Readback[]): Promise<{ arrived: Promise<void> }>;
}

/** What a GPU can do. */
export interface GpuTraits extends EngineTraits {
  /** Bytes of the largest buffer. */
  readonly maxBuffer: number;
  /** Bytes of memory that a workgroup shares. */
  readonly maxWorkgroupBytes: number;
  /** The same of kernels whose memory is said at the launch; absent where there are none. */
  readonly maxDynamicBytes?: number;
  /** Invocations of a workgroup. */
  readonly maxInvocations: number;
  /** Bindings that a kernel has at most, of which every GPU has 8. */
  readonly maxBindings: number;
  /** Commands run as they are recorded: nothing is gained by submitting many at once. */
  readonly runsAtOnce: boolean;
  /**
   * The `usage` of memory of the host that kernels read and write in place: small columns take no copies then. Absent
   * where there is none. `upload` writes to such memory at once, whatever was submitted.
   */
  readonly hostMemory?: number;
}

export interface GpuRuntime extends Submitter {
  readonly traits: GpuTraits;
  /** Resolves when the device is gone, by loss or destroy. */
  readonly lost: Promise<{ reason: string; message: string }>;
  /** Acquires and releases buffers, by the policy that all runtimes share. */
  readonly memory: GpuMemory;
  /**
   * The same GPU by other queues, whose copies run beside this one's work; absent where there is one queue. What is
   * released there is taken there again, and work of this one on it must be done by then.
   */
  readonly lanes?: { readonly up: GpuRuntime; readonly down: GpuRuntime } | undefined;
  /** With lanes: what is submitted from now on runs after what was submitted to another, or to this one. */
  after?(other: GpuRuntime): void;
  /** Milliseconds during which kernels were compiled. */
  readonly compilingMs: number;
  /**
   * The compiled kernel; the first call for a source and constants compiles it. Constants that the source lacks are
   * passed over.
   */
  compile<P extends string, B extends string, C extends string>(
    source: KernelSource<P, B, C>,
    constants: Constants<C>,
  ): Promise<Kernel<P, B>>;
  /**
   * Copies a little host memory into a buffer, before anything that is submitted later. `offset` is a multiple of 4.
   */
  write(buffer: GpuBuffer, offset: number, data: Uint8Array): void;
  /**
   * The same of memory that may be much, before anything that is submitted after the answer. Bytes behind the data, up
   * to a multiple of 4, become 0.
   * @param signal ends the upload between two pieces.
   */
  upload(buffer: GpuBuffer, offset: number, data: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** Loads the code that uploads of so many bytes need: it is not to count as a chunk's time. */
  prepareUploads(bytes: number): Promise<unknown>;
  /** Submits with each dispatch timed into `log`, until `close`; null where the device has no timestamps. */
  timed(log: PlanLog): Promise<(Submitter & { close(): void }) | null>;
  /** Waits for `promise`, but no longer than the device lives. */
  guard<T>(promise: Promise<T>): Promise<T>;
  /** @throws DeviceLostError when the device is gone. */
  checkAlive(): void;
}

/** The value of a parameter. */
export function paramOf<P extends string>(params: ParamLayers<P>, name: P): number {
  let value: number | undefined;
  for (const each of Array.isArray(params) ? params : [params]) value ??= each[name];
  return value ?? 0;
}

/** Whole words. Bytes may be more than 2^31, so no bit operations. */
export const align4 = (bytes: number): number => Math.ceil(bytes / 4) * 4;

/** Workgroups in one dimension of a grid. */
export const MAX_WORKGROUPS = 65535;
