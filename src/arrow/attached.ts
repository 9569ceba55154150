/**
 * Inputs that keep their memory while an operator works: a buffer that was transferred or cut short meanwhile is an
 * error, not other rows. What a caller writes into arrays during a call is not noticed.
 */
import { checkAttached } from "../options.js";
import type { Chunk, ChunkedColumn } from "./chunk.js";
import type { SourceTable } from "./columns.js";

/**
 * Works on tables, and answers only if all columns that were read of them have their memory then. Costs a look at each
 * array, not at its values. An answer that is refused is destroyed.
 * @throws ValidationError that names the column that was detached
 */
export async function whileAttached<T>(
  inputs: readonly SourceTable[],
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const check = () => {
    for (const table of inputs) table.checkMemory?.();
  };
  let answer: T | undefined;
  try {
    check();
    answer = await work();
    check();
    return answer;
  } catch (error) {
    (answer as { destroy?: () => void } | undefined)?.destroy?.();
    // what work stumbles over in arrays without memory says nothing to callers
    if (!signal?.aborted || error !== signal.reason) check();
    throw error;
  }
}

/** @throws ValidationError where an array of the column lost its memory */
export function checkColumnMemory(name: string, { chunks }: Pick<ChunkedColumn, "chunks">): void {
  for (const chunk of chunks) for (const array of arraysOf(chunk)) checkAttached(name, array);
}

/**
 * The same of a batch of either Arrow library, before it is read. Not of what it nests. @throws as checkColumnMemory
 */
export function checkBatchMemory(name: string, batch: object): void {
  for (const array of Object.values(batch)) {
    if (ArrayBuffer.isView(array) && "length" in array) checkAttached(name, array as Uint8Array);
  }
}

function arraysOf(chunk: Chunk): ArrayLike<number>[] {
  const own = ownArraysOf(chunk);
  return chunk.validity === null ? own : [...own, chunk.validity.bits];
}

function ownArraysOf(chunk: Chunk): ArrayLike<number>[] {
  switch (chunk.layout) {
    case "null":
      return [];
    case "bits":
      return [chunk.bits];
    case "fixed":
      return [chunk.data];
    case "bytes":
      return [chunk.offsets, chunk.bytes];
    case "views":
      return [chunk.views, ...chunk.buffers];
    case "list":
      return [chunk.offsets, ...arraysOf(chunk.child)];
    case "listView":
      return [chunk.offsets, chunk.sizes, ...arraysOf(chunk.child)];
    case "fixedList":
      return arraysOf(chunk.child);
    case "struct":
      return chunk.children.flatMap(arraysOf);
    case "union":
      return [chunk.typeIds, ...(chunk.offsets ? [chunk.offsets] : []), ...chunk.children.flatMap(arraysOf)];
    case "dictionary":
      return [chunk.codes, ...chunk.dictionary.chunks.flatMap(arraysOf)];
  }
}
