/**
 * The types of keys and values: a scalar, or a composite, which is a list of scalars. Elements of a scalar type travel
 * in one column, those of a composite in a list of columns, one for each scalar and all equally long. What is one
 * column for a scalar is a list for a composite everywhere: inputs, results, targets, `missing`.
 */
import {
  type Scalar,
  type ScalarArrays,
  type ScalarElement,
  type ScalarType,
  scalarWords,
} from "./scalars.js";

/** Types a key can have: a scalar, or a list of scalars that have 8 words of 32 bits at most together. */
export type KeyType = Scalar | readonly Scalar[];
/** Types a value can have: a scalar, or a list of scalars that have 16 words of 32 bits at most together. */
export type ValueType = Scalar | readonly Scalar[];
/** Types of whatever comes in columns. */
export type ElementType = ScalarType | readonly Scalar[];

/** Elements on the host: a typed array, or of a composite a list of them. */
export type ArraysOf<T extends ElementType> = T extends ScalarType
  ? ScalarArrays[T]
  : { readonly [I in keyof T]: ScalarArrays[T[I] & Scalar] };

/** One element: a bigint for u64 and i64, a number for all other scalars; of a composite a list of these. */
export type ElementOf<T extends ElementType> = T extends ScalarType
  ? ScalarElement<T>
  : { readonly [I in keyof T]: ScalarElement<T[I] & Scalar> };

/** The types of the columns that elements of a type come in; none for null. */
export function scalarsOf<T extends ScalarType>(type: T | readonly T[] | null): readonly T[] {
  if (type === null) return [];
  return typeof type === "string" ? [type] : type;
}

/** 32-bit words of a key or a value; 0 for null. */
export function wordsIn(type: KeyType | ValueType | null): number {
  return scalarsOf<Scalar>(type).reduce((sum, scalar) => sum + scalarWords[scalar], 0);
}

/** A type as text: "u64", "[u32, f32]". Different types have different texts. */
export function typeName(type: ElementType): string {
  return typeof type === "string" ? type : `[${type.join(", ")}]`;
}

/** The columns of elements: of one column itself, or of a list its columns; none for null. */
export function columnsOf<C extends object>(elements: C | readonly C[] | null): readonly C[] {
  if (elements === null) return [];
  return Array.isArray(elements) ? elements : [elements as C];
}

/** How many elements there are. */
export function lengthOf(
  elements: { readonly length: number } | readonly { readonly length: number }[],
): number {
  return columnsOf<{ readonly length: number }>(elements)[0].length;
}

/** Columns as elements of a type are given: the only column of a scalar, or the list. */
export function elementsOf<C>(type: ElementType, columns: readonly C[]): C | readonly C[] {
  return typeof type === "string" ? columns[0] : columns;
}

/** A float in a key. */
export interface FloatInKey {
  /** Its first word in the key. */
  readonly at: number;
  /** 1: f32; 2: f64, the low word first. */
  readonly words: number;
}

/** The floats in keys of a type. */
export function floatsIn(key: KeyType): readonly FloatInKey[] {
  const floats: FloatInKey[] = [];
  let at = 0;
  for (const scalar of scalarsOf<Scalar>(key)) {
    const words = scalarWords[scalar];
    if (scalar === "f32" || scalar === "f64") floats.push({ at, words });
    at += words;
  }
  return floats;
}

/** Whether keys are one word, and that is a float. */
export function isFloatWord(key: KeyType): boolean {
  return wordsIn(key) === 1 && floatsIn(key).length > 0;
}
