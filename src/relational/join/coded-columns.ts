/**
 * Columns of a join's result as dictionaries: a side's own column is the dictionary, and the numbers of its rows are
 * the codes. Nothing of the column is gathered then, and all such columns of a batch share their codes. For results of
 * many rows beside few that come again and again, which are then written to a file: a writer makes the text of each
 * value once.
 */
import { type DataType, dictionary, int32, Type } from "@uwdata/flechette";
import { asBytes, type DictionaryChunk } from "../../arrow/chunk.js";
import type { ColumnPart, OutputColumn } from "../../arrow/materialise.js";

/** Types whose values are a run of bytes. Others come as values: dictionaries have codes already. */
export const CODED: ReadonlySet<number> = new Set([
  Type.Int,
  Type.Float,
  Type.Decimal,
  Type.Date,
  Type.Time,
  Type.Timestamp,
  Type.Duration,
  Type.Interval,
  Type.Utf8,
  Type.LargeUtf8,
  Type.Binary,
  Type.LargeBinary,
  Type.FixedSizeBinary,
]);

/** The columns of a side that can be dictionaries, as such; the others as they are. */
export function codedColumns(outputs: readonly OutputColumn[], side: "left" | "right"): OutputColumn[] {
  let numbers: Uint8Array = new Uint8Array(0);
  const firstNumbers = (rows: number) => {
    if (numbers.length < 4 * rows) numbers = asBytes(Uint32Array.from({ length: rows }, (_, row) => row));
    return numbers.subarray(0, 4 * rows);
  };
  return outputs.map((output) => {
    const part = output[side];
    const isOther = part === undefined || (output.left && output.right) || part.cast !== undefined;
    if (isOther || !CODED.has(output.field.type.typeId)) return output;
    const type = dictionary(output.field.type, int32());
    return { field: { ...output.field, type }, [side]: codedPart(part, type, firstNumbers) };
  });
}

/** @param firstNumbers 0, 1, 2, … as 32-bit words */
function codedPart(part: ColumnPart, type: DataType, firstNumbers: (rows: number) => Uint8Array): ColumnPart {
  let made: DictionaryChunk | undefined;
  const chunk = (): DictionaryChunk => {
    if (made !== undefined) return made;
    const values = part.chunk();
    const { length, validity } = values;
    const all = { type: values.type, length, chunks: [values], source: null };
    const codes = firstNumbers(length);
    made = {
      layout: "dictionary",
      type,
      length,
      validity,
      batchClass: null,
      width: 4,
      codes,
      dictionary: all,
    };
    return made;
  };
  return { chunk, isNumbered: true };
}
