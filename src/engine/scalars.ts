/**
 * The scalar types of keys and values, the typed array each one travels in, and the bit patterns that engines compare.
 * Engines work on 32-bit patterns; a type only matters where numbers are compared or added.
 */

/** Types a key can have. */
export type KeyType = "u32" | "i32" | "f32";
/** Types a value can have. */
export type ValueType = "u32" | "i32" | "f32";
/** Types a device array can have; `u8` is for flags and masks. */
export type ScalarType = "u8" | "u32" | "i32" | "f32";

/** The typed array that holds elements of one scalar type. */
export interface ScalarArrays {
  u8: Uint8Array;
  u32: Uint32Array;
  i32: Int32Array;
  f32: Float32Array;
}

/** Typed array class by scalar type. */
export const arrayClass: {
  readonly [T in ScalarType]: new (
    buffer: ArrayBufferLike,
    byteOffset?: number,
    length?: number,
  ) => ScalarArrays[T];
} = {
  u8: Uint8Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
};

/** Bytes of one element. */
export const scalarBytes: { readonly [T in ScalarType]: number } = { u8: 1, u32: 4, i32: 4, f32: 4 };

/** 32-bit words of a key or a value. */
export const scalarWords: { readonly [T in KeyType | ValueType]: number } = { u32: 1, i32: 1, f32: 1 };

/** A new zeroed typed array of `length` elements. */
export function allocate<T extends ScalarType>(type: T, length: number): ScalarArrays[T] {
  return new arrayClass[type](new ArrayBuffer(length * scalarBytes[type]), 0, length);
}

/** The first `length` elements of an array: the array itself where it has no more. */
export function firstOf<T extends ScalarType>(array: ScalarArrays[T], length: number): ScalarArrays[T] {
  return array.length === length ? array : (array.subarray(0, length) as ScalarArrays[T]);
}

/** The scalar type a typed array holds, or undefined for any other object. Uint8ClampedArray counts as `u8`. */
export function scalarTypeOf(array: unknown): ScalarType | undefined {
  if (array instanceof Uint32Array) return "u32";
  if (array instanceof Int32Array) return "i32";
  if (array instanceof Float32Array) return "f32";
  if (array instanceof Uint8Array || array instanceof Uint8ClampedArray) return "u8";
  return undefined;
}

/** The same memory seen as 32-bit patterns. `array` must hold 4-byte elements. */
export function asBits(array: ArrayBufferView & { length: number }): Uint32Array {
  return new Uint32Array(array.buffer, array.byteOffset, array.length);
}

/** The same memory seen as bytes. */
export function asBytes(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

const scratch = new DataView(new ArrayBuffer(4));

/** Bit pattern of one number as `type` stores it. */
export function bitsOf(type: ValueType, value: number): number {
  if (type === "f32") scratch.setFloat32(0, value);
  else scratch.setUint32(0, value >>> 0);
  return scratch.getUint32(0);
}

/** Bit pattern that all NaN keys are stored as. */
export const CANONICAL_NAN = 0x7fc00000;

/**
 * Bit pattern under which an `f32` key is stored and compared: −0 becomes +0 and every NaN becomes one NaN, so f32 keys
 * are equal exactly when JavaScript's `Map` says so (SameValueZero). Every engine applies this to keys before hashing.
 */
export function canonicalF32(bits: number): number {
  if (bits === 0x80000000) return 0;
  return (bits & 0x7fffffff) > 0x7f800000 ? CANONICAL_NAN : bits;
}
