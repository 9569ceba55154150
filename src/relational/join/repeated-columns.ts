/**
 * Columns of a join's result whose rows come again and again, as dictionaries: each batch has the values of its own
 * rows, once each, and all columns of a side share their codes. For results that are written to files, which hold
 * values either way; numbering values that differ takes far less than numbering all.
 */
import { dictionary, int32 } from "@uwdata/flechette";
import { lookUpValidity, validityOf } from "../../arrow/bitmaps.js";
import { asBytes, type Chunk } from "../../arrow/chunk.js";
import { type GatherPlan, planGather } from "../../arrow/gather.js";
import type { OutputColumn } from "../../arrow/materialise.js";
import { CODED } from "./coded-columns.js";

/** The columns of a side as dictionaries wherever its rows repeat in a batch. */
export function repeatedColumns(
  outputs: readonly OutputColumn[],
  side: "left" | "right",
): readonly OutputColumn[] {
  const repeats = lastRepeats();
  const plan = (chunk: Chunk, rows: Uint32Array) => {
    const found = repeats(rows);
    return found ? planRepeats(chunk, found) : planGather(chunk, rows);
  };
  return outputs.map((output) => {
    const part = output[side];
    const isOther = part === undefined || (output.left && output.right) || part.cast !== undefined;
    return isOther || !CODED.has(output.field.type.typeId)
      ? output
      : { ...output, [side]: { ...part, plan } };
  });
}

/** The repeats of rows; those of the last rows are kept, which the columns of a batch share. */
function lastRepeats(): (rows: Uint32Array) => Repeats | null {
  let last: Uint32Array | undefined;
  let found: Repeats | null = null;
  return (rows) => {
    const isSame =
      last?.buffer === rows.buffer && last.byteOffset === rows.byteOffset && last.length === rows.length;
    if (!isSame) [last, found] = [rows, repeatsIn(rows)];
    return found;
  };
}

/** Rows, once each, and which of them stands at each place of a batch. */
interface Repeats {
  readonly rows: Uint32Array;
  readonly codes: Uint32Array;
}

/** 2^32 over the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4). */
const FIBONACCI = 0x9e3779b1;
/** Rows that come twice each in the mean are worth a dictionary. */
const WORTH = 2;

/** Places that are looked at for a row in the mean, at most: where row numbers crowd, they are taken for different. */
const MOST_STEPS = 8;

/** More rows are looked at by a sample first, of so many in pieces of so many neighbours. */
const SAMPLED_FROM = 1 << 15;
const SAMPLE = 1 << 12;
const PIECE = 1 << 5;
/** Of the sample: rows drawn from so many that half of 2^17 differ, differ by 97.5 % in it. */
const MOST_DIFFERENT = Math.floor(0.98 * SAMPLE);

/** Whether nearly all rows of a sample differ: numbering all of them to find that out takes as long as gathering. */
function differ(rows: Uint32Array): boolean {
  if (rows.length < SAMPLED_FROM) return false;
  const sample = new Set<number>();
  const width = Math.floor((rows.length * PIECE) / SAMPLE);
  for (let i = 0; i < SAMPLE; i += PIECE) {
    const start = (width * i) / PIECE;
    for (let k = 0; k < PIECE; k++) sample.add(rows[start + k]);
  }
  return sample.size > MOST_DIFFERENT;
}

/** The different rows among some, in the order in which they come first; null where they are too many. */
function repeatsIn(rows: Uint32Array): Repeats | null {
  if (differ(rows)) return null;
  const most = Math.floor(rows.length / WORTH);
  const codes = new Uint32Array(rows.length);
  const different = new Uint32Array(most);
  const mask = (1 << (33 - Math.clz32(most + 1))) - 1;
  const slots = new Int32Array(mask + 1); // number + 1
  let [count, steps] = [0, 0];
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (i > 0 && row === rows[i - 1]) {
      codes[i] = codes[i - 1];
      continue;
    }
    let slot = (Math.imul(row, FIBONACCI) >>> 8) & mask;
    while (slots[slot] !== 0 && different[slots[slot] - 1] !== row) {
      if (++steps > MOST_STEPS * rows.length) return null;
      slot = (slot + 1) & mask;
    }
    if (slots[slot] === 0) {
      if (count === most) return null;
      different[count] = row;
      slots[slot] = ++count;
    }
    codes[i] = slots[slot] - 1;
  }
  return { rows: different.subarray(0, count), codes };
}

/** The different rows of a chunk as the dictionary of all. */
function planRepeats(chunk: Chunk, { rows, codes }: Repeats): GatherPlan {
  const { tasks, finish } = planGather(chunk, rows);
  return {
    tasks,
    finish: (made) => {
      const values = finish(made);
      const { type, length, validity } = values;
      const bits = lookUpValidity(codes, null, validity?.bits ?? null);
      return {
        layout: "dictionary",
        type: dictionary(type, int32()),
        length: codes.length,
        validity: bits && validityOf(bits, codes.length),
        batchClass: null,
        width: 4,
        codes: asBytes(codes),
        dictionary: { type, length, chunks: [values], source: null },
      };
    },
  };
}
