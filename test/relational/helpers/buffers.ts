/** Laying out column values in Arrow buffers, without the libraries' builders. */

/** Values of a column: bigint for everything stored as an integer (in the type's own unit), number for floats. */
export type Logical = bigint | number | string | boolean | Uint8Array;

type Column = readonly (Logical | null)[];

/** Arrow buffers of one column without its validity. */
export interface Buffers {
  readonly values: ArrayBufferView;
  readonly offsets?: Int32Array | BigInt64Array;
  readonly data?: Uint8Array[];
}

type BigArray = BigInt64Array | BigUint64Array;
type SmallArray = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array;

export function encodeNumbers<A extends SmallArray>(Values: { from(values: number[]): A }) {
  return (values: Column): Buffers => ({
    values: Values.from(values.map((v) => Number(v ?? 77))),
  });
}

export function encodeBigs<A extends BigArray>(Values: { from(values: bigint[]): A }) {
  return (values: Column): Buffers => ({
    values: Values.from(values.map((v) => (v ?? 77n) as bigint)),
  });
}

/** Bits of a half that holds `value` exactly. */
export function toHalf(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size === 0) return sign;
  if (size === Infinity) return sign | 0x7c00;
  const exponent = Math.floor(Math.log2(size));
  return sign | ((exponent + 15) << 10) | ((size / 2 ** exponent - 1) * 1024);
}

const utf8 = new TextEncoder();

export function bytesOf(value: Logical | null): Uint8Array {
  return value === null
    ? utf8.encode("null!")
    : typeof value === "string"
      ? utf8.encode(value)
      : (value as Uint8Array);
}

export function packBytes(parts: readonly Uint8Array[], offsets: "i32" | "i64"): Buffers {
  const ends = [0];
  for (const part of parts) ends.push(ends[ends.length - 1] + part.length);
  const values = new Uint8Array(ends[parts.length]);
  for (const [i, part] of parts.entries()) values.set(part, ends[i]);
  return { values, offsets: offsets === "i32" ? Int32Array.from(ends) : BigInt64Array.from(ends, BigInt) };
}

/** 16-byte views; strings of more than 12 bytes alternate between two buffers. */
export function encodeViews(values: Column): Buffers {
  const views = new Uint8Array(16 * values.length);
  const fields = new DataView(views.buffer);
  const buffers: number[][] = [[], []];
  values.forEach((value, i) => {
    const bytes = bytesOf(value);
    fields.setInt32(16 * i, bytes.length, true);
    views.set(bytes.subarray(0, bytes.length <= 12 ? 12 : 4), 16 * i + 4);
    if (bytes.length <= 12) return;
    const k = i % 2;
    fields.setInt32(16 * i + 8, k, true);
    fields.setInt32(16 * i + 12, buffers[k].length, true);
    buffers[k].push(...bytes);
  });
  return { values: views, data: buffers.map((buffer) => Uint8Array.from(buffer)) };
}
