/**
 * Delta-packed numbers of Parquet are checked here before hyparquet decodes them: their parts lie in the page, and are
 * as many as it says.
 */
import { varint } from "./parquet-runs.js";

/** @throws Error unless the bytes start with `count` delta-packed numbers */
export function checkDeltas(bytes: Uint8Array, count: number): void {
  if (count === 0 && bytes.length === 0) return;
  const block = varint(bytes, 0);
  const parts = varint(bytes, block.end);
  const total = varint(bytes, parts.end);
  const perPart = block.value / parts.value;
  if (!(perPart > 0) || perPart % 32 !== 0) throw new Error("its deltas come in parts that there are not");
  if (total.value !== count) throw new Error(`a page has ${total.value} values where it says ${count}`);
  if (count === 0) return;
  let at = afterVarint(bytes, total.end); // the first number
  for (let left = count - 1; left > 0; ) {
    at = afterVarint(bytes, at); // the smallest delta of the block
    const widths = bytes.subarray(at, at + parts.value);
    at += parts.value;
    for (const width of widths) {
      if (left <= 0) break;
      const needed = Math.ceil((Math.min(left, perPart) * width) / 8);
      if (width > 64 || at + needed > bytes.length) throw new Error("its deltas lead out of the page");
      at += (perPart * width) / 8;
      left -= perPart;
    }
    if (widths.length < parts.value) throw new Error("its deltas lead out of the page");
  }
}

/** Where a number of up to 64 bits ends. */
function afterVarint(bytes: Uint8Array, at: number): number {
  for (let end = at; end < bytes.length && end < at + 10; end++) if (bytes[end] < 0x80) return end + 1;
  throw new Error("its deltas lead out of the page");
}
