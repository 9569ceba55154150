/**
 * A reader of FlatBuffers that trusts nothing. Every offset, vtable, string and vector lies in the buffer, at a
 * multiple of its width (4 at most); every field lies in its table; a vtable has whole slots. What comes out is never
 * larger than what went in. Flechette reads the same bytes again without a check, so it only gets them once they went
 * through here: both must find the same in any bytes that this reader takes (test/io/flatbuffers.test.ts). A `Shape`
 * names the fields of a table; fields behind those are read by neither. After the FlatBuffers internals page and the
 * rules of its C++ `Verifier`.
 */
import { isUtf8 } from "../is-utf8.js";

/** What a field of a table is, at the field's number. */
export type FieldShape =
  | { readonly kind: "int"; readonly bytes: 1 | 2 | 4 | 8; readonly otherwise?: number }
  | { readonly kind: "string" }
  | { readonly kind: "table"; readonly shape: () => Shape }
  /** The field before it says which of the shapes. */
  | { readonly kind: "union"; readonly shapes: () => Readonly<Record<number, Shape>> }
  | { readonly kind: "tables"; readonly shape: () => Shape }
  /** Structs: integers of these widths, `bytes` in all. */
  | {
      readonly kind: "structs";
      readonly bytes: number;
      readonly ints: readonly (readonly [number, 4 | 8])[];
    };

export type Shape = Readonly<Record<string, FieldShape>>;

/** A table: its fields by name. Absent integers have their default, other absent fields are null. */
export interface FlatTable {
  readonly [name: string]: FlatValue;
}
export type FlatValue =
  | null
  | number
  | string
  | FlatTable
  | readonly FlatTable[]
  | readonly (readonly number[])[];

/** Bytes that are not the FlatBuffer they should be. */
export class FlatError extends Error {}

const MAX_DEPTH = 64;
/**
 * Offsets to strings, tables and vectors are 32 bits wide. Wider numbers lie at multiples of this width only: there are
 * files (older ones of apache-arrow) whose numbers of 64 bits do not lie at multiples of theirs.
 */
const OFFSET_BYTES = 4;

/** Reads the root table. @throws FlatError */
export function readFlat(bytes: Uint8Array, shape: Shape): FlatTable {
  const reader = new Reader(bytes);
  return reader.table(reader.follow(0), shape, 0);
}

class Reader {
  readonly #view: DataView;
  /** Tables and elements that may still be read: each takes bytes of its own, unless several point to the same. */
  #left: number;

  constructor(readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#left = bytes.length;
  }

  #check(at: number, size: number): void {
    if (at < 0 || size < 0 || at + size > this.bytes.length)
      throw new FlatError("an offset leads out of the metadata");
  }

  #spend(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new FlatError("parts of the metadata lie over each other");
  }

  #int(at: number, bytes: 1 | 2 | 4 | 8): number {
    this.#check(at, bytes);
    if (at % Math.min(bytes, OFFSET_BYTES) !== 0)
      throw new FlatError("a part of the metadata is not where its width needs it");
    if (bytes === 1) return this.#view.getUint8(at);
    if (bytes === 2) return this.#view.getInt16(at, true);
    if (bytes === 4) return this.#view.getInt32(at, true);
    const value = Number(this.#view.getBigInt64(at, true));
    if (!Number.isSafeInteger(value)) throw new FlatError("a number of 64 bits is out of range");
    return value;
  }

  /** Where the offset at `at` leads. */
  follow(at: number): number {
    const offset = this.#int(at, 4);
    if (offset < 4) throw new FlatError("an offset leads backwards");
    return at + offset;
  }

  table(at: number, shape: Shape, depth: number): FlatTable {
    if (depth > MAX_DEPTH) throw new FlatError("the metadata is nested too deeply");
    this.#spend(1);
    const vtable = at - this.#int(at, 4);
    const vtableSize = this.#int(vtable, 2);
    const tableSize = this.#int(vtable + 2, 2);
    if (vtableSize < 4 || vtableSize % 2 !== 0 || tableSize < 4)
      throw new FlatError("a table of the metadata has a size that cannot be");
    this.#check(vtable, vtableSize);
    this.#check(at, tableSize);
    const table: Record<string, FlatValue> = {};
    let before = 0;
    let slot = 4;
    for (const [name, field] of Object.entries(shape)) {
      const offset = slot < vtableSize ? this.#int(vtable + slot, 2) : 0;
      slot += 2;
      const width = field.kind === "int" ? field.bytes : OFFSET_BYTES;
      if (offset !== 0 && (offset < 4 || offset + width > tableSize))
        throw new FlatError("a field leads out of its table");
      const value = this.#field(offset === 0 ? null : at + offset, field, before, depth);
      table[name] = value;
      before = typeof value === "number" ? value : 0;
    }
    return table;
  }

  #field(at: number | null, field: FieldShape, before: number, depth: number): FlatValue {
    if (at === null) return field.kind === "int" ? (field.otherwise ?? 0) : null;
    switch (field.kind) {
      case "int":
        return this.#int(at, field.bytes);
      case "string":
        return this.#string(this.follow(at));
      case "table":
        return this.table(this.follow(at), field.shape(), depth + 1);
      case "union":
        return this.table(this.follow(at), field.shapes()[before] ?? {}, depth + 1);
      case "tables": {
        const start = this.#vector(at, 4);
        return Array.from({ length: start.length }, (_, i) =>
          this.table(this.follow(start.at + 4 * i), field.shape(), depth + 1),
        );
      }
      case "structs": {
        const start = this.#vector(at, field.bytes);
        return Array.from({ length: start.length }, (_, i) =>
          field.ints.map(([offset, bytes]) => this.#int(start.at + i * field.bytes + offset, bytes)),
        );
      }
    }
  }

  #vector(field: number, stride: number): { at: number; length: number } {
    const at = this.follow(field);
    const length = this.#int(at, 4);
    this.#check(at + 4, length * stride);
    if (length < 0) throw new FlatError("a list of the metadata has a negative length");
    this.#spend(length);
    return { at: at + 4, length };
  }

  #string(at: number): string {
    const length = this.#int(at, 4);
    this.#check(at + 4, length + 1);
    this.#spend(length);
    if (this.bytes[at + 4 + length] !== 0) throw new FlatError("a name does not end where it says");
    const bytes = this.bytes.subarray(at + 4, at + 4 + length);
    if (!isUtf8(bytes)) throw new FlatError("a name is not UTF-8");
    return new TextDecoder().decode(bytes);
  }
}
