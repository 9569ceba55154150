/** Tables as flechette's, with no more memory than their values take. */
import { Column, Endianness, Table, Version } from "@uwdata/flechette";
import { readTable as readSource } from "../arrow/columns.js";
import { compactChunk } from "../arrow/compact-chunk.js";
import { isArrowTable, type TableInput } from "../arrow/table-input.js";
import { BatchMaker } from "../arrow/to-flechette.js";

/** The same table with batches that hold no more than their own values. Takes all that operators take. */
export function compacted(table: TableInput): Table {
  const maker = new BatchMaker();
  const { columns: sources } = readSource(table, "");
  const columns = sources.map(({ field, column }) => {
    if (column.chunks.length === 0)
      return column.source?.type ? column.source : new Column<unknown>([], field.type);
    const batches = column.chunks.map((chunk) => maker.batch(compactChunk(chunk)));
    return new Column(batches, batches[0].type);
  });
  const fields = sources.map(({ field }, i) => ({ ...field, type: columns[i].type }));
  const { metadata } = isArrowTable(table) ? (table.schema as { metadata?: Map<string, string> }) : {};
  return new Table({ version: Version.V5, endianness: Endianness.Little, fields, metadata }, columns);
}
