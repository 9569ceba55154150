/** Arrow to Parquet by the package hyparquet-writer: one row group at a time, Snappy-compressed, all columns nullable. */
import { type Column, type DataType, type Table, TimeUnit, Type } from "@uwdata/flechette";
import type { DecodedArray, SchemaElement } from "hyparquet/src/types.js";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { ValidationError } from "../errors.js";
import { typeName } from "../relational/arrow-types.js";
import { rawColumn } from "./columns.js";
import type { TransferOptions } from "./formats.js";
import { schemaElementOf } from "./parquet-types.js";

/** Rows of a row group, as DuckDB writes them. */
const ROW_GROUP = 122_880;

/** A table as Parquet, row group by row group. @throws ValidationError for a column of a type that Parquet has no like of */
export function parquetBlocks(table: Table, { onProgress }: TransferOptions): AsyncGenerator<Uint8Array> {
  const tables = (async function* () {
    yield table;
  })();
  return parquetOfBatches(tables, { onProgress: (done) => onProgress?.(done, table.numRows) });
}

/**
 * Tables of the same columns, at least one, as one Parquet file. A row group holds rows of one of them.
 * @throws as parquetBlocks
 */
export async function* parquetOfBatches(
  tables: AsyncIterable<Table>,
  { onProgress }: TransferOptions,
): AsyncGenerator<Uint8Array> {
  const buffer = new ByteWriter() as ByteWriter & { index: number };
  const taken = () => {
    const bytes = buffer.getBytes().slice();
    buffer.index = 0;
    return bytes;
  };
  let writer: ParquetWriter | undefined;
  let done = 0;
  for await (const table of tables) {
    const fields = table.schema.fields.map(({ name, type }) => checkedElement(name, type));
    const schema: SchemaElement[] = [{ name: "root", num_children: fields.length }, ...fields];
    writer ??= new ParquetWriter({ writer: buffer, schema, createdBy: "warpmap" });
    const columns = table.children.map((column) => valueReader(column as Column<unknown>));
    for (let start = 0; start < table.numRows; start += ROW_GROUP) {
      const end = Math.min(table.numRows, start + ROW_GROUP);
      const columnData = fields.map(({ name }, i) => ({ name, data: columns[i](start, end) }));
      await writer.write({ columnData, rowGroupSize: ROW_GROUP });
      yield taken();
      done += end - start;
      onProgress?.(done, done);
    }
  }
  await writer?.finish();
  yield taken();
}

function checkedElement(name: string, type: DataType): SchemaElement {
  const element = schemaElementOf(name, type);
  if (element !== null) return element;
  throw new ValidationError(
    `Column "${name}" has the type ${typeName(type)}, which cannot be written to Parquet.`,
    "Write to a file with the extension .arrow, which holds every type.",
  );
}

/** A function that takes rows out of a column, as the values that hyparquet-writer wants for its Parquet type. */
function valueReader(column: Column<unknown>): (start: number, end: number) => DecodedArray {
  const raw = rawColumn(column);
  const convert = conversionOf(column.type);
  return (start, end) => {
    const values = new Array(end - start);
    for (let row = start; row < end; row++) {
      const value = raw.at(row);
      values[row - start] =
        value === null || value === undefined || convert === null ? value : convert(value);
    }
    return values;
  };
}

const DAY = 86_400_000; // milliseconds

/** From raw values (columns.ts) to Parquet's; null where they are the same. */
function conversionOf(type: DataType): ((value: unknown) => unknown) | null {
  switch (type.typeId) {
    case Type.Dictionary:
      return conversionOf(type.dictionary);
    case Type.Date:
      return (value) => Math.floor((value as number) / DAY);
    case Type.Decimal:
      return (value) => BigInt(value as number | bigint);
    case Type.Timestamp:
      return type.unit === TimeUnit.SECOND ? (value) => (value as bigint) * 1000n : null;
    case Type.Time:
      return type.unit === TimeUnit.SECOND ? (value) => (value as number) * 1000 : null;
    default:
      return null;
  }
}
