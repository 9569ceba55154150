/** Tables of the same columns as one table. */
import { type Batch, Column, Table } from "@uwdata/flechette";

/** The rows of all tables, of which there is at least one. Shares the memory of their values. */
export function stackTables(tables: readonly Table[]): Table {
  const filled = tables.filter(({ numRows }) => numRows > 0);
  const [first = tables[0]] = filled;
  if (filled.length <= 1) return first;
  const columns = first.children.map((column, i) => {
    const batches = filled.flatMap((table) => [...(table.children[i] as Column<unknown>).data]);
    return new Column(batches as Batch<unknown>[], column.type);
  });
  return new Table(first.schema, columns);
}

/** All rows of tables that come one after the other. */
export async function collectTables(tables: AsyncIterable<Table>): Promise<Table> {
  const all: Table[] = [];
  for await (const table of tables) all.push(table);
  return stackTables(all);
}
