/**
 * Lists, maps and structs taken apart on their way into a Parquet file: for each leaf its values, nulls left out, and the levels of its
 * entries, as parquet-levels.ts describes them. The other direction of parquet-nested.ts. No object is made for a value.
 */
import { Type } from "@uwdata/flechette";
import type { Chunk } from "../../arrow/chunk.js";
import { gather } from "../../arrow/gather.js";
import { isSet } from "../../bitmaps.js";
import { ValidationError } from "../../errors.js";

/** Levels of a leaf's entries in one row group: a byte each. */
export interface WrittenLevels {
  readonly definitions: Uint8Array;
  /** Null where the leaf is in no list. */
  readonly repetitions: Uint8Array | null;
}

/** A leaf's rows. */
export interface ShreddedLeaf {
  /** The values that are there, one an entry whose level of definition is the highest. */
  readonly values: Chunk;
  readonly levels: WrittenLevels;
}

/** The leaves of a column's rows, in the order of parquet-written.ts. @param name of the column, for messages */
export function shredded(chunk: Chunk, name: string): ShreddedLeaf[] {
  const { length } = chunk;
  const entries: Entries = {
    places: Int32Array.from({ length }, (_, row) => row),
    definitions: new Uint8Array(length),
    repetitions: null,
  };
  const leaves: ShreddedLeaf[] = [];
  shred(chunk, entries, { name, depth: 0, isRequired: false }, leaves);
  return leaves;
}

/** Entries as far as they are known above a chunk. */
interface Entries {
  /** Which value of the chunk each has; -1: something above it is null or empty. */
  readonly places: Int32Array;
  readonly definitions: Uint8Array;
  readonly repetitions: Uint8Array | null;
}

interface Position {
  readonly name: string;
  /** Lists above. */
  readonly depth: number;
  /** Keys of maps have no level of their own. */
  readonly isRequired: boolean;
}

function shred(chunk: Chunk, above: Entries, position: Position, leaves: ShreddedLeaf[]): void {
  const entries = withValidity(chunk, above, position);
  switch (chunk.layout) {
    case "struct":
      for (const child of chunk.children) shred(child, entries, { ...position, isRequired: false }, leaves);
      break;
    case "list":
    case "listView":
    case "fixedList": {
      const elements = elementsOf(chunk, entries, position.depth + 1);
      const inside = { ...position, depth: position.depth + 1, isRequired: false };
      const { child } = chunk;
      if (chunk.type.typeId !== Type.Map || child.layout !== "struct") shred(child, elements, inside, leaves);
      // entries of maps are never null
      else {
        const [key, value] = child.children;
        shred(key, elements, { ...inside, isRequired: true }, leaves);
        shred(value, elements, inside, leaves);
      }
      break;
    }
    default:
      leaves.push({ values: gather(chunk, present(entries)), levels: entries });
  }
}

/** One level of definition more where a value is there. */
function withValidity(
  chunk: Chunk,
  { places, definitions, repetitions }: Entries,
  { name, isRequired }: Position,
): Entries {
  const bits = chunk.layout === "null" ? null : (chunk.validity?.bits ?? undefined);
  const own = { places: places.slice(), definitions: definitions.slice(), repetitions };
  for (let i = 0; i < places.length; i++) {
    const place = places[i];
    if (place < 0) continue;
    if (bits === undefined || (bits !== null && isSet(bits, place))) {
      if (!isRequired) own.definitions[i]++;
      continue;
    }
    if (isRequired) {
      throw new ValidationError(
        `A map of column "${name}" has a key that is null, which cannot be written to Parquet.`,
        "Write to a file with the extension .arrow, or leave the column out.",
      );
    }
    own.places[i] = -1;
  }
  return own;
}

type ListChunk = Extract<Chunk, { layout: "list" | "listView" | "fixedList" }>;

/** An entry for each element, and one for each list that has none. */
function elementsOf(chunk: ListChunk, { places, definitions, repetitions }: Entries, depth: number): Entries {
  const { startOf, lengthOf } = spans(chunk);
  let count = 0;
  for (const place of places) count += place < 0 ? 1 : Math.max(1, lengthOf(place));
  const own = {
    places: new Int32Array(count).fill(-1),
    definitions: new Uint8Array(count),
    repetitions: new Uint8Array(count),
  };
  for (let i = 0, at = 0; i < places.length; i++) {
    const place = places[i];
    const length = place < 0 ? 0 : lengthOf(place);
    own.repetitions[at] = repetitions === null ? 0 : repetitions[i];
    own.definitions[at] = definitions[i];
    if (length === 0) {
      at++;
      continue;
    }
    const start = startOf(place);
    for (let k = 0; k < length; k++, at++) {
      own.places[at] = start + k;
      own.definitions[at] = definitions[i] + 1;
      if (k > 0) own.repetitions[at] = depth;
    }
  }
  return own;
}

function spans(chunk: ListChunk) {
  switch (chunk.layout) {
    case "list": {
      const { offsets } = chunk;
      return {
        startOf: (i: number) => offsets[i],
        lengthOf: (i: number) => offsets[i + 1] - offsets[i],
      };
    }
    case "listView":
      return { startOf: (i: number) => chunk.offsets[i], lengthOf: (i: number) => chunk.sizes[i] };
    default:
      return { startOf: (i: number) => i * chunk.size, lengthOf: () => chunk.size };
  }
}

/** The places of values that are there. */
function present({ places }: Entries): Uint32Array {
  let count = 0;
  for (const place of places) if (place >= 0) count++;
  const found = new Uint32Array(count);
  let at = 0;
  for (const place of places) if (place >= 0) found[at++] = place;
  return found;
}
