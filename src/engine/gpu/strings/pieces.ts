/** A batch of strings in pieces: as many as are worth a dispatch, and no more bytes than can be bound. */
import { LimitError } from "../../../errors.js";
import type { Utf8Column } from "../../utf8-column.js";
import type { Chunk } from "../batch/columns.js";

/**
 * Strings first .. first + count, and the bytes that they are in. `first` is a multiple of 1,024 or what is left are
 * few.
 */
export interface StringPiece extends Chunk {
  /** A multiple of 4 less than 4 before the first string's byte. */
  readonly fromByte: number;
  readonly toByte: number;
}

/**
 * Strings and bytes of a piece at most: some milliseconds of a GPU's time, some tenths of a second of a software GPU's.
 */
const MOST = {
  hardware: { strings: 2 ** 20, bytes: 2 ** 26 },
  software: { strings: 2 ** 16, bytes: 2 ** 22 },
};
/** Pieces begin at multiples of this, since four elements share a word of a mask. */
const GRAIN = 4;

/**
 * @param mostBinding bytes that can be bound at once. @throws LimitError when some neighbouring strings are longer
 * together
 */
export function* piecesOf(
  { offsets, length }: Utf8Column,
  mostBinding: number,
  software: boolean,
): Generator<StringPiece> {
  const most = software ? MOST.software : MOST.hardware;
  for (let first = 0; first < length; ) {
    const fromByte = offsets[first] - (offsets[first] % 4);
    let end = Math.min(length, first + GRAIN);
    while (end < length && end - first < most.strings) {
      const next = Math.min(length, end + GRAIN);
      if (offsets[next] - fromByte > most.bytes) break;
      end = next;
    }
    const toByte = offsets[end];
    if (toByte - fromByte + 8 > mostBinding) {
      const fix = "Give strings that are shorter.";
      throw new LimitError("maxStorageBufferBindingSize", toByte - fromByte + 8, mostBinding, fix);
    }
    yield { first, count: end - first, fromByte, toByte };
    first = end;
  }
}
