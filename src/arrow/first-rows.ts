/** The first rows of a table. Shares the memory of its values. */
import { Column, Table } from "@uwdata/flechette";
import { readTable } from "./columns.js";
import { sliceChunk } from "./slice-chunk.js";
import { BatchMaker } from "./to-flechette.js";

/** The first `count` rows of a table, or all of them where it has fewer. */
export function firstRows(table: Table, count: number): Table {
  if (count >= table.numRows) return table;
  const maker = new BatchMaker();
  const columns = readTable(table, "").columns.map(({ column }) => {
    const batches = [];
    let left = count;
    for (const chunk of column.chunks) {
      if (left === 0 && batches.length > 0) break;
      const rows = Math.min(left, chunk.length);
      batches.push(maker.batch(sliceChunk(chunk, 0, rows)));
      left -= rows;
    }
    return new Column(batches, batches[0].type);
  });
  const fields = table.schema.fields.map((field, i) => ({ ...field, type: columns[i].type }));
  return new Table({ ...table.schema, fields }, columns);
}
