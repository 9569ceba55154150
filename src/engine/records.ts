/** Records of dictionaries (dictionary.ts) on the host: strings by their numbers. */
import { LimitError } from "../errors.js";
import { Utf8Column } from "./utf8-column.js";

/** The strings whose records begin at these words of an arena. @throws LimitError when their bytes are 2^32 or more */
export function readRecords(arena: Uint32Array, records: Uint32Array): Utf8Column {
  const offsets = new Uint32Array(records.length + 1);
  let total = 0;
  for (let i = 0; i < records.length; i++) {
    total += arena[records[i]];
    offsets[i + 1] = total;
  }
  if (total >= 2 ** 32) {
    throw new LimitError("bytes", total, 2 ** 32 - 1, "Take the strings in pieces, by entries({ chunk }).");
  }
  // words are written whole: what is behind a string is written after it
  const bytes = new Uint8Array(total + 3);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < records.length; i++) {
    const length = offsets[i + 1] - offsets[i];
    const first = records[i] + 1;
    if (length > LONG) {
      bytes.set(new Uint8Array(arena.buffer, arena.byteOffset + first * 4, length), offsets[i]);
      continue;
    }
    for (let at = offsets[i], w = first; at < offsets[i + 1]; at += 4, w++)
      view.setUint32(at, arena[w], true);
  }
  return new Utf8Column(offsets, bytes.subarray(0, total));
}

/** Strings of more bytes than this are copied by the runtime. */
const LONG = 64;
