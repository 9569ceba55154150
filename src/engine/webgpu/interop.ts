/**
 * What the engine shows of WebGPU: buffers under arrays, tables and lists for users' kernels, and users' buffers as
 * arrays.
 */
import { ValidationError } from "../../errors.js";
import { checkOptions, checkShape } from "../../options.js";
import { gpuArray, type Place, placeOf } from "../gpu/batch/columns.js";
import type { GpuLists } from "../gpu/lists/gpu-lists.js";
import type { BufferView, Interop, NativeTypes } from "../native.js";
import { type ScalarType, scalarBytes } from "../scalars.js";
import { BufferUsage } from "./device/gpu-flags.js";
import type { WebgpuEngine } from "./webgpu-engine.js";
import type { WebgpuTable } from "./webgpu-table.js";

export function interopOf(engine: WebgpuEngine): Interop {
  const { gpu } = engine;
  return {
    wrap(memory, view) {
      const buffer = memory as GPUBuffer;
      const length = checkedLength(buffer, view);
      const { type, byteOffset = 0 } = view as BufferView<ScalarType>;
      return gpuArray(engine, gpu, type, length, {
        buffer,
        byteOffset,
        owned: false,
        isReadable: (buffer.usage & BufferUsage.COPY_SRC) > 0,
        checkCopy: checkingUsage(buffer),
      });
    },
    buffers: {
      device: gpu.device,
      bufferOf(array) {
        const { buffer } = placeOf(array);
        gpu.memory.share(buffer);
        return buffer as GPUBuffer;
      },
      tableOf: (table) => (table as WebgpuTable<never, never>).native,
      listsOf: (lists) => (lists as GpuLists<never>).native as NativeTypes["lists"],
    },
  };
}

/** Elements of a view of a caller's buffer. @throws ValidationError when kernels cannot use them */
function checkedLength(buffer: GPUBuffer, view = {} as BufferView<ScalarType>): number {
  if (typeof buffer?.size !== "number") {
    throw new ValidationError("wrap takes a GPUBuffer and { type }.", 'Write wrap(buffer, { type: "u32" }).');
  }
  checkOptions(view, "type byteOffset length");
  const { type, byteOffset = 0, length: given } = view;
  checkShape(type);
  const length = given ?? Math.floor((buffer.size - byteOffset) / scalarBytes[type]);
  const end = byteOffset + length * scalarBytes[type];
  const fits = byteOffset >= 0 && Number.isSafeInteger(length) && length >= 0 && end <= buffer.size;
  if (!fits || byteOffset % 4 !== 0) {
    throw new ValidationError(
      `${length} elements of ${type} from byte ${byteOffset} do not fit a buffer of ${buffer.size} bytes, or do not start at a multiple of 4.`,
      "Give a byteOffset that is a multiple of 4 and a length within the buffer.",
    );
  }
  if (!(buffer.usage & BufferUsage.STORAGE)) {
    throw new ValidationError(
      "This buffer's usage lacks STORAGE, so kernels cannot use it.",
      "Create it with STORAGE.",
    );
  }
  if (buffer.size % 4 !== 0) {
    throw new ValidationError(
      `This buffer has ${buffer.size} bytes.`,
      "Create it with a multiple of 4 bytes.",
    );
  }
  return length;
}

/** Tells what the usage of a caller's buffer lacks. */
function checkingUsage({ usage }: GPUBuffer): Place["checkCopy"] {
  return (way, done) => {
    const flag = way === "from" ? "COPY_SRC" : "COPY_DST";
    if (usage & BufferUsage[flag]) return;
    throw new ValidationError(
      `This buffer's usage lacks ${flag}, so it cannot be ${done}.`,
      `Create it with ${flag}.`,
    );
  };
}
