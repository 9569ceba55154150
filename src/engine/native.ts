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

/** What an engine shows of the API under it. What is shown stays out of the pool of kept memory. @internal */
export interface Interop {
  /** The caller's or the engine's own. */
  readonly device: NativeTypes["device"];
  /** Elements of a caller's buffer, without a copy; the caller keeps ownership. @throws ValidationError */
  wrap<T extends ScalarType>(buffer: NativeTypes["buffer"], view: BufferView<T>): DeviceArray<T>;
  /** What holds an array's elements, from its `byteOffset` on. */
  bufferOf(array: DeviceArray): NativeTypes["buffer"];
  /** What is under a table of the engine. */
  tableOf(table: Table): NativeTypes["table"];
  /** What is under lists of the engine. */
  listsOf(lists: ValueLists): NativeTypes["lists"];
}
