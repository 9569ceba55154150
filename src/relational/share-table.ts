/**
 * Tables whose rows lie in memory that all threads reach: calls on them copy nothing for their threads. The values of
 * dictionaries stay where they are.
 */
import { Column, Endianness, type Table, Table as TableClass, Version } from "@uwdata/flechette";
import type { Chunk } from "../arrow/chunk.js";
import { readTable } from "../arrow/columns.js";
import { isArrowTable, type TableInput } from "../arrow/table-input.js";
import { BatchMaker } from "../arrow/to-flechette.js";

/**
 * The same table in `SharedArrayBuffer`s, one batch a column: for a table that many calls on a device with several
 * threads read. Without it, one thread copies the columns of each call to such memory while the others work. Takes one
 * copy of the columns, unless they are there; where there is no SharedArrayBuffer, the columns stay as they are.
 *
 * @example
 * const flights = shareTable(tableFromArrays({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] }));
 * const delays = await groupBy(flights, { by: ["origin"], aggregate: { delay: mean("delay") } });
 * console.log(delays.toArray()); // [ { origin: 'SFO', delay: 4 }, { origin: 'JFK', delay: 3 } ]
 */
export function shareTable(table: TableInput): Table {
  const maker = new BatchMaker();
  const { columns: sources } = readTable(table, "");
  const columns = sources.map((source) => {
    const batch = maker.batch(shared(source.contiguous()));
    return new Column([batch], batch.type);
  });
  const fields = sources.map(({ field }, i) => ({ ...field, type: columns[i].type }));
  const { metadata } = isArrowTable(table) ? (table.schema as { metadata?: Map<string, string> }) : {};
  return new TableClass({ version: Version.V5, endianness: Endianness.Little, fields, metadata }, columns);
}

/** What of a chunk is no memory of its rows. */
const KEPT = ["type", "batchClass", "dictionary"];

function shared(chunk: Chunk): Chunk {
  return typeof SharedArrayBuffer === "undefined" ? chunk : (sharedPart(chunk) as Chunk);
}

function sharedPart(part: unknown): unknown {
  if (ArrayBuffer.isView(part)) return sharedArray(part as Uint8Array);
  if (Array.isArray(part)) return part.map(sharedPart);
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, KEPT.includes(name) ? value : sharedPart(value)]),
  );
}

function sharedArray<A extends Uint8Array>(array: A): A {
  if (array.buffer instanceof SharedArrayBuffer) return array;
  const Class = array.constructor as new (buffer: SharedArrayBuffer) => A;
  const copy = new Class(new SharedArrayBuffer(array.byteLength));
  copy.set(array);
  return copy;
}
