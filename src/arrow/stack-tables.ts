/** Tables of the same columns as one table. */
import { type Batch, Column, Table } from "@uwdata/flechette";
import { checkBatchMemory } from "./attached.js";
import { columnCalled } from "./columns.js";

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

/**
 * All rows of tables that come one after the other.
 * @throws ValidationError where an input lost the memory that they share with it
 */
export async function collectTables(tables: AsyncIterable<Table>): Promise<Table> {
  const all: Table[] = [];
  for await (const table of tables) all.push(table);
  const made = stackTables(all);
  for (const [i, column] of made.children.entries())
    for (const batch of (column as Column<unknown>).data)
      checkBatchMemory(columnCalled(made.names[i], ""), batch);
  return made;
}
