/** Whether strings are UTF-8: bytes that are not would come out as replacement characters, in silence. */
import { type Batch, type Column, type Table, Type } from "@uwdata/flechette";
import { isUtf8 } from "./is-utf8.js";

/** What was looked at. */
type Seen = Pick<WeakSet<object>, "has" | "add">;

/**
 * @param seen batches that are known to be UTF-8 @throws Error that names the first column with a string that is not
 */
export function checkUtf8(table: Table, seen: Seen): void {
  table.children.forEach((column, i) => {
    if (!holdsUtf8(column as Column<unknown>, seen)) throw notUtf8(String(table.names[i]));
  });
}

/** The error of a column with a string that is not UTF-8. */
export function notUtf8(name: string): Error {
  return new Error(`column "${name}" holds text that is not UTF-8`);
}

/** Whether all strings of a column are UTF-8. @param seen batches that are known to be, which others may share */
export function holdsUtf8(column: Column<unknown>, seen: Seen = new Set<object>()): boolean {
  return column.data.every((batch) => isText(batch as AnyBatch, seen));
}

type AnyBatch = Batch<unknown> & {
  readonly data?: readonly Uint8Array[];
  readonly dictionary?: Column<unknown>;
};

/** Whether all strings of a batch, and of what is nested in it, are UTF-8. What was `seen` is not looked at again. */
function isText(batch: AnyBatch, seen: Seen): boolean {
  if (seen.has(batch)) return true;
  seen.add(batch);
  const isPartText = (part: unknown) => isText(part as AnyBatch, seen);
  if (!(batch.children ?? []).every(isPartText)) return false;
  switch (batch.type.typeId) {
    case Type.Utf8:
    case Type.LargeUtf8:
      return areStrings(batch);
    case Type.Utf8View:
      return areViews(batch);
    case Type.Dictionary:
      return (batch.dictionary?.data ?? []).every(isPartText);
    default:
      return true;
  }
}

/** Bytes that go on with a character: 10xxxxxx. */
function continues(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function areStrings(batch: AnyBatch): boolean {
  const { length } = batch;
  if (length === 0) return true;
  const offsets = batch.offsets as Int32Array | BigInt64Array;
  const bytes = batch.values as Uint8Array;
  const first = Number(offsets[0]);
  const last = Number(offsets[length]);
  // one look at all bytes is faster than one at each string; then no string may start inside a character
  let whole = isUtf8(bytes.subarray(first, last));
  for (let row = 1; whole && row < length; row++) {
    const at = Number(offsets[row]);
    if (at < last && continues(bytes[at])) whole = false;
  }
  if (whole) return true;
  for (let row = 0; row < length; row++) {
    const text = bytes.subarray(Number(offsets[row]), Number(offsets[row + 1]));
    if (!isNull(batch, row) && !isUtf8(text)) return false;
  }
  return true;
}

function areViews(batch: AnyBatch): boolean {
  const views = batch.values as Uint8Array;
  const words = new DataView(views.buffer, views.byteOffset, views.byteLength);
  for (let row = 0; row < batch.length; row++) {
    if (isNull(batch, row)) continue;
    const at = 16 * row;
    const length = words.getInt32(at, true);
    const inline = views.subarray(at + 4, at + 4 + length);
    const from = length > 12 ? words.getInt32(at + 12, true) : 0;
    const text =
      length > 12 ? batch.data?.[words.getInt32(at + 8, true)]?.subarray(from, from + length) : inline;
    if (text && !isUtf8(text)) return false;
  }
  return true;
}

function isNull(batch: AnyBatch, row: number): boolean {
  return batch.nullCount > 0 && batch.isValid(row) === false;
}
