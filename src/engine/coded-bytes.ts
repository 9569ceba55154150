/**
 * Byte strings given as codes into a dictionary: the key column of a dictionary-encoded string column. To an engine it
 * is a ByteColumn like any other; one that knows it can handle each of the dictionary's strings once instead of once
 * per row.
 */
import type { ByteColumn } from "./rows.js";

/** Value i is string codes[i] of `strings`, or null. */
export class CodedBytes implements ByteColumn {
  readonly kind = "bytes";
  #starts: Uint32Array | undefined;
  #ends: Uint32Array | undefined;

  constructor(
    /** The dictionary. Its own validity is part of `validity` already. */
    readonly strings: ByteColumn,
    /** The code of a null may be anything. */
    readonly codes: Uint8Array | Uint16Array | Uint32Array,
    readonly validity: Uint8Array | null,
  ) {}

  get bytes(): Uint8Array {
    return this.strings.bytes;
  }

  /** Looked up for every row on first use. */
  get starts(): Uint32Array {
    this.#starts ??= lookUp(this.strings.starts, this.codes);
    return this.#starts;
  }

  /** As `starts`. */
  get ends(): Uint32Array {
    this.#ends ??= lookUp(this.strings.ends, this.codes);
    return this.#ends;
  }
}

function lookUp(values: Uint32Array, codes: Uint8Array | Uint16Array | Uint32Array): Uint32Array {
  const found = new Uint32Array(codes.length);
  for (let row = 0; row < codes.length; row++) found[row] = values[codes[row]];
  return found;
}
