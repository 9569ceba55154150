/** Where fields of CSV files that are written are, until csv-rows.ts copies them. */
import type { TextBuffer } from "../text-buffer.js";

/** Where the fields of some rows are: field i starts at `starts[from + i]` of the bytes that fill() answers with. */
export interface Places {
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
  readonly from: number;
  /** Text that is made for these rows; starts in it are given by their complement, which is negative. */
  readonly own: TextBuffer;
}

/** Finds the fields of rows `row` up to `row + count` of its part; answers with the bytes where they are. */
export type Fill = (places: Places, row: number, count: number) => Uint8Array;

/** The bytes of fields that are all in `own`. */
export const NOTHING = new Uint8Array(0);

export function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}

/** A field of text that is made now. */
export function placeText({ starts, lengths, own }: Places, at: number, text: string): void {
  starts[at] = ~own.at;
  own.text(text);
  lengths[at] = own.at - ~starts[at];
}
