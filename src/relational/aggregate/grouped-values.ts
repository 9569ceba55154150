/**
 * A column's values, and values beside the groups of their rows. Nulls are taken out of their groups once: their rows
 * get the number behind the last group, so that loops over values look at no validity.
 */

import { lookUpValidity } from "../../arrow/bitmaps.js";
import { type Chunk, codesOf } from "../../arrow/chunk.js";
import type { SourceColumn } from "../../arrow/columns.js";
import { contiguous } from "../../arrow/contiguous.js";
import { bitmapBytes, isSet } from "../../bitmaps.js";
import type { CodedBytes } from "../../engine/coded-bytes.js";
import type { KeyColumn } from "../../engine/rows.js";
import { runTask } from "../../host/group-tasks.js";
import { encodeOwnKeys } from "../keys/encode-keys.js";
import { ranksOf } from "./ranks.js";

/** A column's values. */
export class Values {
  #key: KeyColumn | undefined;
  #validity: Uint8Array | null | undefined;
  #ranks: Uint32Array | undefined;

  constructor(readonly column: SourceColumn) {}

  /** The values in the form in which keys are compared; of a type that a key may have. */
  get key(): KeyColumn {
    this.#key ??= encodeOwnKeys([this.column], this.column.contiguous().length).columns[0];
    return this.#key;
  }

  /** Of a dictionary of strings: their order. */
  get ranks(): Uint32Array {
    this.#ranks ??= ranksOf((this.key as CodedBytes).strings);
    return this.#ranks;
  }

  /** Bitmap of the rows that are not null; null where none is. */
  get validity(): Uint8Array | null {
    if (this.#validity === undefined) this.#validity = validBits(this.column.contiguous());
    return this.#validity;
  }
}

export class GroupedValues {
  readonly #values: Values;
  #groupOf: Uint32Array | undefined;
  #counts: Float64Array | undefined;

  constructor(
    values: SourceColumn | Values,
    /** Per row: its group, whether its value is null or not. */
    readonly rowGroups: Uint32Array,
    readonly groups: number,
  ) {
    this.#values = values instanceof Values ? values : new Values(values);
  }

  get column(): SourceColumn {
    return this.#values.column;
  }

  /** As Values. */
  get key(): KeyColumn {
    return this.#values.key;
  }

  /** As Values. */
  get validity(): Uint8Array | null {
    return this.#values.validity;
  }

  /** Per row: its group; of a null `groups`. */
  get groupOf(): Uint32Array {
    this.#groupOf ??= withoutNulls(this.rowGroups, this.validity, this.groups);
    return this.#groupOf;
  }

  /** Per group: values that are not null. */
  get counts(): Float64Array {
    this.#counts ??= countRows(this.groupOf, this.groups);
    return this.#counts;
  }

  /** Notes what `counts` is, where somebody has counted. */
  set counts(counts: Float64Array) {
    this.#counts = counts;
  }
}

/** Rows of each group; those of the extra group are left out. */
export function countRows(groupOf: Uint32Array, groups: number): Float64Array {
  const column = { kind: "rows", validity: null } as const;
  return runTask({ groupOf, groups, values: { kind: "sums", column } })[0].subarray(0, groups);
}

/** The values of a dictionary may be null themselves, and null columns have no bitmap. */
function validBits(chunk: Chunk): Uint8Array | null {
  if (chunk.layout === "null") return new Uint8Array(bitmapBytes(chunk.length));
  if (chunk.layout !== "dictionary") return chunk.validity?.bits ?? null;
  return lookUpValidity(codesOf(chunk), chunk.validity, validBits(contiguous(chunk.dictionary)));
}

function withoutNulls(groupOf: Uint32Array, valid: Uint8Array | null, groups: number): Uint32Array {
  if (valid === null) return groupOf;
  const values = new Uint32Array(groupOf.length);
  for (let row = 0; row < values.length; row++) values[row] = isSet(valid, row) ? groupOf[row] : groups;
  return values;
}
