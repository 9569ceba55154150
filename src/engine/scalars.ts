/**
 * The scalar types of keys and values, the typed array each one travels in, and the bit patterns that engines compare.
 * Engines work on 32-bit words; a type only matters where numbers are compared or added. An element of 64 bits is two
 * words, the low one first, as its typed array has it on little-endian machines (all that JavaScript and WebGPU run
 * on).
 */

/** Types of the elements of one column of keys or values. */
export type Scalar = "u32" | "i32" | "f32" | "u64" | "i64" | "f64";
/** Types of the keys and values of multimaps and multisets, and of the keys of sketches. */
export type BasicType = "u32" | "i32" | "f32" | "u64";
/** All of them. */
export const basicTypes: readonly BasicType[] = ["u32", "i32", "f32", "u64"];
/** Types a device array can have; `u8` is for flags and masks. */
export type ScalarType = "u8" | Scalar;

/** The typed array that holds elements of one scalar type. */
export interface ScalarArrays {
  u8: Uint8Array;
  u32: Uint32Array;
  i32: Int32Array;
  f32: Float32Array;
  u64: BigUint64Array;
  i64: BigInt64Array;
  f64: Float64Array;
}

/** One element: a bigint for u64 and i64, a number for all others. */
export type ScalarElement<T extends ScalarType> = ScalarArrays[T][number];

/** Typed array class by scalar type; `u8`, which no key or value has, comes first. */
export const arrayClass: {
  readonly [T in ScalarType]: {
    new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): ScalarArrays[T];
    readonly name: string;
    readonly BYTES_PER_ELEMENT: number;
  };
} = {
  u8: Uint8Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f64: Float64Array,
};

/** A number for each type. */
type Numbers = { readonly [T in ScalarType]: number };
const types = Object.keys(arrayClass) as ScalarType[];
const ofEach = (number: (type: ScalarType) => number) =>
  Object.fromEntries(types.map((type) => [type, number(type)])) as Numbers;

/** Bytes of one element. */
export const scalarBytes: Numbers = ofEach((type) => arrayClass[type].BYTES_PER_ELEMENT);

/** 32-bit words of an element of a key or a value; of a string those of the number that stands for it in its table. */
export const scalarWords: { readonly [T in Scalar | "utf8"]: number } = {
  ...ofEach((type) => scalarBytes[type] / 4),
  utf8: 1,
};

/** A new typed array of `length` elements, zeroed unless its memory is given. */
export function allocate<T extends ScalarType>(
  type: T,
  length: number,
  memory = new ArrayBuffer(length * scalarBytes[type]),
): ScalarArrays[T] {
  return new arrayClass[type](memory, 0, length);
}

/**
 * A new typed array of `length` elements with unspecified contents, for results that are written whole. In Node the
 * memory is not zeroed first, which takes as long as the copy into it; elsewhere it is.
 */
export function allocateUnfilled<T extends ScalarType>(type: T, length: number): ScalarArrays[T] {
  const { Buffer } = globalThis as { Buffer?: { allocUnsafeSlow(bytes: number): Uint8Array<ArrayBuffer> } };
  return allocate(type, length, Buffer?.allocUnsafeSlow(length * scalarBytes[type]).buffer);
}

/** The first `length` elements of an array: the array itself where it has no more. */
export function firstOf<T extends ScalarType>(array: ScalarArrays[T], length: number): ScalarArrays[T] {
  return array.length === length ? array : (array.subarray(0, length) as ScalarArrays[T]);
}

/** The scalar type a typed array holds, or undefined for any other object. Uint8ClampedArray counts as `u8`. */
export function scalarTypeOf(array: unknown): ScalarType | undefined {
  if (array instanceof Uint8ClampedArray) return "u8";
  return types.find((type) => array instanceof arrayClass[type]);
}

/** Zero of a scalar type. */
export function zeroOf<T extends ScalarType>(type: T): ScalarArrays[T][number] {
  return allocate(type, 1)[0];
}

/**
 * The same memory seen as 32-bit words: one per element of 4 bytes, two per element of 8. `array` must hold such
 * elements.
 */
export function asBits(array: ArrayBufferView): Uint32Array {
  return new Uint32Array(array.buffer, array.byteOffset, array.byteLength / 4);
}

/** The same memory seen as bytes. */
export function asBytes(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

const scratch = new DataView(new ArrayBuffer(8));

/** The 32-bit words of one element as `type` stores it, the low word first. Integers wrap. */
export function wordsOf(type: Scalar, value: number | bigint): number[] {
  if (type === "u64" || type === "i64") scratch.setBigUint64(0, BigInt.asUintN(64, BigInt(value)), true);
  else if (type === "f64") scratch.setFloat64(0, Number(value), true);
  else if (type === "f32") scratch.setFloat32(0, Number(value), true);
  else scratch.setUint32(0, Number(value) >>> 0, true);
  return Array.from({ length: scalarWords[type] }, (_, word) => scratch.getUint32(4 * word, true));
}

/** Bit pattern of one element of a type that has one word. */
export function bitsOf(type: Scalar, value: number | bigint): number {
  return wordsOf(type, value)[0];
}
