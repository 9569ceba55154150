/**
 * Key columns as an engine compares them (engine/rows.ts): words or byte strings, in the common form that key-types.ts
 * chose, so that two values are equal exactly when their bits are. Zero-copy wherever the data has that form already.
 */

import { lookUpValidity, type Validity } from "../../arrow/bitmaps.js";
import { type Chunk, codesOf, type DictionaryChunk } from "../../arrow/chunk.js";
import type { SourceColumn } from "../../arrow/columns.js";
import { contiguous } from "../../arrow/contiguous.js";
import { bitmapBytes } from "../../bitmaps.js";
import { CodedBytes } from "../../engine/coded-bytes.js";
import type { KeyColumn, RowKeys, WordColumn } from "../../engine/rows.js";
import { encodeBytes } from "./encode-bytes.js";
import { encodeFloats } from "./encode-floats.js";
import { encodeIntegers } from "./encode-integers.js";
import { type KeyForm, keyForm } from "./key-types.js";

/** The keys of both sides, column by column in the same form. */
export interface EncodedKeys {
  readonly left: RowKeys;
  readonly right: RowKeys;
}

/**
 * Encodes pairs of key columns. `left[i]` is compared with `right[i]`.
 * @throws ValidationError when a pair cannot be compared: it names both columns and types
 * @throws LimitError when the strings of a column add up to 4 GiB or more
 */
export function encodeKeys(
  left: readonly SourceColumn[],
  right: readonly SourceColumn[],
  rows: { readonly left: number; readonly right: number },
): EncodedKeys {
  const forms = keyForms(left, right);
  return {
    left: encodeSide(left, forms, rows.left, "leftFactors"),
    right: encodeSide(right, forms, rows.right, "rightFactors"),
  };
}

/** The forms in which pairs of key columns are compared. @throws ValidationError when a pair cannot be */
export function keyForms(left: readonly SourceColumn[], right: readonly SourceColumn[]): KeyForm[] {
  return left.map((column, i) => keyForm(column.field, right[i].field));
}

/** Encodes one side of pairs of key columns. @throws LimitError when the strings of a column add up to 4 GiB or more */
export function encodeSide(
  columns: readonly SourceColumn[],
  forms: readonly KeyForm[],
  rows: number,
  side: FactorSide,
): RowKeys {
  return { rows, columns: columns.map((column, i) => encode(column.contiguous(), forms[i], side)) };
}

/**
 * Encodes key columns whose rows are compared with each other.
 * @throws ValidationError for a column of a type that cannot be a key
 * @throws LimitError when the strings of a column add up to 4 GiB or more
 */
export function encodeOwnKeys(columns: readonly SourceColumn[], rows: number): RowKeys {
  return {
    rows,
    columns: columns.map((column) =>
      encode(column.contiguous(), keyForm(column.field, column.field), "leftFactors"),
    ),
  };
}

/** Which of a form's factors are a side's. */
export type FactorSide = "leftFactors" | "rightFactors";

function encode(chunk: Chunk, form: KeyForm, side: FactorSide): KeyColumn {
  if (chunk.layout === "dictionary") return encodeDictionary(chunk, form, side);
  if (chunk.layout === "null") return allNull(chunk.length, form);
  switch (form.kind) {
    case "null":
      return allNull(chunk.length, form);
    case "bytes":
      return { kind: "bytes", ...encodeBytes(chunk), validity: bitsOf(chunk.validity) };
    case "bool":
      return words(1, encodeBools(chunk), chunk.validity);
    case "float":
      return words(form.words, encodeFloats(chunk, form.words), chunk.validity);
    case "integer":
      return words(form.words, encodeIntegers(chunk, form.words, form[side]), chunk.validity);
  }
}

function words(width: number, data: Uint32Array, validity: Validity | null): WordColumn {
  return { kind: "words", width, data, validity: bitsOf(validity) };
}

function bitsOf(validity: Validity | null): Uint8Array | null {
  return validity?.bits ?? null;
}

function encodeBools(chunk: Chunk): Uint32Array {
  const { bits } = chunk as Extract<Chunk, { layout: "bits" }>;
  const data = new Uint32Array(chunk.length);
  for (let i = 0; i < data.length; i++) data[i] = (bits[i >>> 3] >>> (i & 7)) & 1;
  return data;
}

function allNull(rows: number, form: KeyForm): KeyColumn {
  const validity = new Uint8Array(bitmapBytes(rows));
  if (form.kind === "bytes") {
    return {
      kind: "bytes",
      starts: new Uint32Array(rows),
      ends: new Uint32Array(rows),
      bytes: new Uint8Array(0),
      validity,
    };
  }
  const width = "words" in form ? form.words : 1;
  return { kind: "words", width, data: new Uint32Array(rows * width), validity };
}

/** The dictionary's values are encoded once. Strings stay codes of the dictionary's ranges, words are looked up. */
function encodeDictionary(chunk: DictionaryChunk, form: KeyForm, side: FactorSide): KeyColumn {
  const values = encode(contiguous(chunk.dictionary), form, side);
  const codes = codesOf(chunk);
  const validity = lookUpValidity(codes, chunk.validity, values.validity);
  if (values.kind === "bytes") return new CodedBytes(values, codes, validity);
  const { width } = values;
  const data = new Uint32Array(width * codes.length);
  for (let i = 0, out = 0; i < codes.length; i++) {
    const at = codes[i] * width;
    for (let k = 0; k < width; k++) data[out++] = values.data[at + k];
  }
  return { kind: "words", width, data, validity };
}
