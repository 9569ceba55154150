/** Memory of the cpu join. */
import { LimitError } from "../../errors.js";

/** A zeroed array. @throws LimitError when there is no memory for it */
export function allocateWords(length: number): Uint32Array {
  try {
    return new Uint32Array(length);
  } catch (cause) {
    throw new LimitError("memory", 4 * length, Number.NaN, "Join part of the table at a time.", { cause });
  }
}

/**
 * Arrays that are needed for one range of rows after another. Fresh memory is slow (the system clears it page by page:
 * 0.4 ms per MB measured, ten times what writing to it again takes), so a join takes it once.
 */
export class Scratch {
  readonly #kept = new Map<string, Uint32Array>();

  /** An array of `length` elements that hold anything. What was taken under the same name before is no longer valid. */
  take(name: "words" | "codes" | "records", length: number): Uint32Array {
    let array = this.#kept.get(name);
    if (!array || array.length < length) {
      array = allocateWords(length);
      this.#kept.set(name, array);
    }
    return array.subarray(0, length);
  }
}
