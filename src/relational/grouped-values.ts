/**
 * A column's values beside the groups of its rows. Nulls are taken out of their groups once: their rows get the number behind
 * the last group, so that loops over values look at no validity.
 */
import { bitmapBytes, isSet } from "../engine/bitmaps.js";
import type { KeyColumn } from "../engine/rows.js";
import { type Chunk, codesOf } from "./chunk.js";
import type { SourceColumn } from "./columns.js";
import { contiguous } from "./contiguous.js";
import { encodeOwnKeys, lookUpValidity } from "./encode-keys.js";
import type { GroupedRows } from "./group-rows.js";

export class GroupedValues {
  #key: KeyColumn | undefined;
  #groupOf: Uint32Array | undefined;
  #counts: Uint32Array | undefined;
  readonly #grouped: GroupedRows;
  readonly #rowCounts: () => Uint32Array;

  /** @param rowCounts rows per group, which are the values of a column without nulls */
  constructor(
    readonly column: SourceColumn,
    grouped: GroupedRows,
    rowCounts: () => Uint32Array,
  ) {
    this.#grouped = grouped;
    this.#rowCounts = rowCounts;
  }

  get groups(): number {
    return this.#grouped.firsts.length;
  }

  /** The values in the form in which keys are compared; of a type that a key may have. */
  get key(): KeyColumn {
    this.#key ??= encodeOwnKeys([this.column], this.#grouped.groupOf.length).columns[0];
    return this.#key;
  }

  /** Per row: its group; of a null `groups`. */
  get groupOf(): Uint32Array {
    this.#groupOf ??= withoutNulls(this.#grouped.groupOf, validBits(this.column.contiguous()), this.groups);
    return this.#groupOf;
  }

  /** Per group: values that are not null. */
  get counts(): Uint32Array {
    const isWhole = this.groupOf === this.#grouped.groupOf;
    this.#counts ??= isWhole ? this.#rowCounts() : countRows(this.groupOf, this.groups);
    return this.#counts;
  }
}

/** Rows of each group; those of the extra group are left out. */
export function countRows(groupOf: Uint32Array, groups: number): Uint32Array {
  const counts = new Uint32Array(groups + 1);
  for (let row = 0; row < groupOf.length; row++) counts[groupOf[row]]++;
  return counts.subarray(0, groups);
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
