/**
 * The API under an engine, for programs that use both: their own device and buffers, and kernels of their own on
 * tables, arrays and lists. An engine that has one lists its types here; the seam names none of them.
 */
import type { DeviceArray } from "./device-array.js";
import type { Table } from "./engine.js";
import type { ScalarType } from "./scalars.js";
import type { ValueLists } from "./value-lists.js";
import type { WebgpuOptions, WebgpuTypes } from "./webgpu/native-types.js";

/** Types of the API under the engine, where it lets programs at it: `device`, `buffer`. */
export interface NativeTypes extends WebgpuTypes {}

/** Options of `openDevice` that say which device of that API to use. */
export interface NativeOptions extends WebgpuOptions {
  /** The number of an NVIDIA GPU, from 0 on: for the cuda engine, of the package warpmap-cuda. */
  gpu?: number;
  /**
   * Several NVIDIA GPUs of this machine as one device: how many, all, or their numbers. Large tables and arrays are
   * shared by them (docs/several-gpus.md). A number may come twice, for tests.
   */
  gpus?: number | "all" | readonly number[];
}

/** Elements of a buffer. */
export interface BufferView<T extends ScalarType> {
  /** Their type. */
  readonly type: T;
  /** Where they start, a multiple of 4. Default 0. */
  readonly byteOffset?: number;
  /** How many they are. Default: up to the buffer's end. */
  readonly length?: number;
}

/** Memory of the device at an address, which a library of the same process has allocated. */
export interface MemoryAt<T extends ScalarType = ScalarType> {
  /** The address of the first element: a multiple of 4, and of an element's bytes. */
  readonly pointer: bigint | number;
  /** Bytes from there on, a multiple of an element's. */
  readonly byteLength: number;
  /** Type of the elements. Default `u8`. */
  readonly type?: T;
}

/** A tensor of another library as DLPack describes it (DLTensor; github.com/dmlc/dlpack): one dense column. */
export interface TensorAt {
  /** The address of the memory. */
  readonly data: bigint | number;
  /** Elements in each dimension; all together become one column. */
  readonly shape: readonly (number | bigint)[];
  /**
   * A name of NumPy's, such as `float32` (uint8, bool, int32, uint32, int64, uint64, float32, float64), or DLDataType's
   * fields.
   */
  readonly dtype: string | { readonly code: number; readonly bits: number; readonly lanes?: number };
  /** DLDeviceType: 2 (kDLCUDA, the default) or 13 (kDLCUDAManaged). */
  readonly deviceType?: number;
  /** The number of the device. Default: that of this device. */
  readonly deviceId?: number;
  /** Bytes from `data` to the first element. Default 0. */
  readonly byteOffset?: number | bigint;
  /** Elements from one to the next in each dimension; only those of dense rows. Default, and null: dense rows. */
  readonly strides?: readonly (number | bigint)[] | null;
}

/** What an engine shows of the API under it. What is shown stays out of the pool of kept memory. @internal */
export interface Interop {
  /** Elements of a caller's memory, without a copy; the caller keeps ownership. @throws ValidationError */
  wrap(memory: NativeTypes["buffer"] | MemoryAt | TensorAt, view?: BufferView<ScalarType>): DeviceArray;
  /** The address of an array's first element; absent where memory has none. @throws ValidationError */
  pointerOf?(array: DeviceArray): bigint;
  /** Absent where memory does not lie in buffers. */
  readonly buffers?: BufferInterop;
}

/** What is shown where memory lies in buffers of a device. @internal */
export interface BufferInterop {
  /** The caller's or the engine's own. */
  readonly device: NativeTypes["device"];
  /** What holds an array's elements, from its `byteOffset` on. */
  bufferOf(array: DeviceArray): NativeTypes["buffer"];
  /** What is under a table of the engine. */
  tableOf(table: Table): NativeTypes["table"];
  /** What is under lists of the engine. */
  listsOf(lists: ValueLists): NativeTypes["lists"];
}
