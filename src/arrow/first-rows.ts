/** The first rows of a table, and tables one behind the other, in the same memory. */
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

/** The rows of tables of the same columns, one behind the other. Shares their memory. @param tables at least one */
export function concatTables(tables: readonly Table[]): Table {
  const [first = tables[0], ...others] = tables.filter(({ numRows }) => numRows > 0);
  if (others.length === 0) return first;
  const columns = first.children.map(
    ({ data }, i) => new Column([...data, ...others.flatMap(({ children }) => children[i].data)]),
  );
  return new Table(first.schema, columns);
}
