/**
 * Memory of other libraries in the process as device arrays, and the addresses of ours. All of them share the GPU's
 * primary context, so that an address means the same to each. Whether an address is one is asked of the driver: a kernel
 * that follows a wrong one loses the context, for everybody.
 */
import {
  checkOneOf,
  checkOptions,
  type DeviceArray,
  describe,
  gpuArray,
  type Interop,
  type MemoryAt,
  placeOf,
  type ScalarType,
  scalarBytes,
  type TensorAt,
  ValidationError,
} from "warpmap/engine";
import type { CudaContext } from "../driver/context.js";
import { readNumber } from "../driver/driver.js";
import { MEMORY_TYPE_HOST, PointerAttribute, Result } from "../driver/ffi.js";
import type { CudaHost } from "../table/table-state.js";
import { addressOf, CudaBuffer } from "./memory.js";

/** Names of NumPy's, and codes and bits of DLDataType: kDLInt 0, kDLUInt 1, kDLFloat 2, kDLBool 6. */
const DTYPES: readonly (readonly [name: string, code: number, bits: number, type: ScalarType])[] = [
  ["uint8", 1, 8, "u8"],
  ["bool", 6, 8, "u8"],
  ["int32", 0, 32, "i32"],
  ["uint32", 1, 32, "u32"],
  ["int64", 0, 64, "i64"],
  ["uint64", 1, 64, "u64"],
  ["float32", 2, 32, "f32"],
  ["float64", 2, 64, "f64"],
];
/** kDLCUDA and kDLCUDAManaged of DLDeviceType. */
const DEVICE_TYPES = [2, 13];

export function interopOf(host: CudaHost): Interop {
  const { gpu } = host;
  return {
    wrap(memory, view) {
      if (view !== undefined || typeof memory !== "object" || memory === null) throw noMemory(memory);
      const { address, byteLength, type } =
        "shape" in memory ? ofTensor(memory, gpu.context.device) : ofMemory(memory as MemoryAt);
      gpu.checkAlive();
      checkAddress(gpu.context, address, byteLength, type);
      const at = { buffer: new CudaBuffer(byteLength, address), byteOffset: 0, owned: false };
      return gpuArray(host.engine, gpu, type, byteLength / scalarBytes[type], at) as DeviceArray;
    },
    pointerOf(array) {
      if (array.destroyed)
        throw new ValidationError("This device array was destroyed.", "Use its pointer before destroy().");
      const { buffer, byteOffset } = placeOf(array);
      gpu.memory.share(buffer);
      return BigInt(addressOf({ buffer, offset: byteOffset }));
    },
  };
}

interface Elements {
  readonly address: number;
  readonly byteLength: number;
  readonly type: ScalarType;
}

function ofMemory(memory: MemoryAt): Elements {
  if (!("pointer" in memory)) throw noMemory(memory);
  checkOptions(memory, "pointer byteLength type");
  const { type = "u8" } = memory;
  checkOneOf("element type", type, Object.keys(scalarBytes));
  const byteLength = wholeOf("byteLength", memory.byteLength);
  if (byteLength % scalarBytes[type] !== 0) {
    throw new ValidationError(
      `byteLength is ${byteLength}, and an element of ${type} has ${scalarBytes[type]} bytes.`,
      "Give the bytes of whole elements.",
    );
  }
  return { address: wholeOf("pointer", memory.pointer), byteLength, type };
}

function ofTensor(tensor: TensorAt, device: number): Elements {
  checkOptions(tensor, "data shape dtype deviceType deviceId byteOffset strides");
  const { deviceType = DEVICE_TYPES[0], deviceId = device, byteOffset = 0 } = tensor;
  const type = typeOf(tensor.dtype);
  if (!DEVICE_TYPES.includes(deviceType) || deviceId !== device) {
    throw new ValidationError(
      `The tensor is on device ${deviceId} of type ${deviceType}, and this device is GPU ${device} (type 2, kDLCUDA).`,
      `Copy it to GPU ${device} in its library, or open a device on its GPU.`,
    );
  }
  if (!Array.isArray(tensor.shape)) {
    throw new ValidationError(`shape is ${describe(tensor.shape)}.`, "Give the elements in each dimension.");
  }
  const shape = tensor.shape.map((length) => wholeOf("A length in shape", length));
  checkDense(shape, tensor.strides ?? null);
  const elements = shape.reduce((product, length) => product * length, 1);
  return {
    address: wholeOf("data", tensor.data) + wholeOf("byteOffset", byteOffset),
    byteLength: wholeOf("The tensor's size in bytes", elements * scalarBytes[type]),
    type,
  };
}

function typeOf(dtype: TensorAt["dtype"]): ScalarType {
  const isText = typeof dtype === "string";
  const {
    code,
    bits,
    lanes = 1,
  } = (isText ? {} : (dtype ?? {})) as { code?: number; bits?: number; lanes?: number };
  const known = DTYPES.find(([name, ...id]) => (isText ? name === dtype : id[0] === code && id[1] === bits));
  if (known && lanes === 1) return known[3];
  const given = isText ? `"${dtype}"` : `{ code: ${code}, bits: ${bits}, lanes: ${lanes} }`;
  throw new ValidationError(
    `Device arrays have no elements of dtype ${given}.`,
    `Convert the tensor in its library to one of ${DTYPES.map(([name]) => name).join(", ")}.`,
  );
}

/** @throws ValidationError unless rows follow each other without gaps; a dimension of 1 has any stride */
function checkDense(shape: readonly number[], strides: (TensorAt["strides"] & object) | null): void {
  if (strides === null || shape.includes(0)) return;
  let dense = 1;
  const isDense = shape.map(() => true);
  for (let d = shape.length - 1; d >= 0; d--) {
    isDense[d] = shape[d] === 1 || Number(strides[d]) === dense;
    dense *= shape[d];
  }
  if (strides.length === shape.length && isDense.every(Boolean)) return;
  throw new ValidationError(
    `The tensor of shape [${shape.join(", ")}] has the strides [${strides.join(", ")}], which are not those of dense rows.`,
    "Make it contiguous in its library first.",
  );
}

/** Asks the driver whether the elements lie in memory of this GPU. @throws ValidationError */
function checkAddress(context: CudaContext, address: number, byteLength: number, type: ScalarType): void {
  const alignment = Math.max(4, scalarBytes[type]);
  if (address % alignment !== 0) {
    throw new ValidationError(
      `The address 0x${address.toString(16)} is no multiple of ${alignment}, as kernels need for elements of ${type}.`,
      "Copy the elements to an address that is, or wrap from an earlier element on.",
    );
  }
  if (byteLength === 0) return;
  context.enter();
  const ask = (attribute: number): number | undefined => {
    let isKnown = false;
    const answer = readNumber((into) => {
      isKnown = context.api.cuPointerGetAttribute(into, attribute, address) === Result.SUCCESS;
    });
    return isKnown ? answer : undefined;
  };
  const kind = ask(PointerAttribute.MEMORY_TYPE);
  if (kind === undefined || kind === MEMORY_TYPE_HOST) {
    throw new ValidationError(
      `The address 0x${address.toString(16)} is not of memory of a GPU: ${kind ? "it is the host's" : "the driver does not know it"}.`,
      "Give an address of cuMemAlloc or of a library on CUDA; upload memory of the host.",
    );
  }
  const gpu = ask(PointerAttribute.DEVICE_ORDINAL);
  if (gpu !== undefined && gpu !== context.device) {
    throw new ValidationError(
      `The memory is on GPU ${gpu}, and this device is GPU ${context.device}.`,
      `Open a device with { backend: "cuda", gpu: ${gpu} }, or copy the memory in its library.`,
    );
  }
  const [start, size] = [ask(PointerAttribute.RANGE_START), ask(PointerAttribute.RANGE_SIZE)];
  if (start === undefined || size === undefined || address + byteLength <= start + size) return;
  throw new ValidationError(
    `${byteLength} bytes from 0x${address.toString(16)} on go beyond the allocation, which has ${start + size - address} there.`,
    "Give the bytes that the library allocated.",
  );
}

/** A number that the host counts exactly. @throws ValidationError */
function wholeOf(name: string, value: unknown): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number;
  throw new ValidationError(
    `${name} is ${describe(value)}.`,
    "Give a whole number of at least 0, or a bigint.",
  );
}

function noMemory(memory: unknown): ValidationError {
  return new ValidationError(
    `wrap was given ${describe(memory)}, and takes memory at an address here.`,
    "Write device.wrap({ pointer, byteLength, type }), or give a tensor { data, shape, dtype }.",
  );
}
