/** The worker of the view Try: holds the tables, opens the device, does the work, and writes the result down. */
import type { Table } from "@uwdata/flechette";
import { type Format, readTable, tableToBytes } from "warpmap/io";
import { isGzipName, isTextFormat, knownFormatOf } from "../../../../../src/io/formats.js";
import { deviceOf, factsOf } from "../../devices.js";
import type { EngineChoice, EngineFacts } from "../../engines.js";
import { type CallContext, Moved, serve } from "../../rpc/server.js";
import { compare } from "../contenders/compare.js";
import {
  type ExportFormat,
  type KeyPair,
  type LoadRequest,
  type PageRequest,
  type Progress,
  type RunFacts,
  type RunRequest,
  type Side,
  type TableFacts,
  tablesFor,
} from "../protocol.js";
import { cellsOf, columnFacts } from "./cells.js";
import { delimiterOf } from "./delimiter.js";
import { keyPairs } from "./key-pairs.js";
import { isUnmatched, operate } from "./operate.js";

const tables: Partial<Record<Side, Table>> = {};
let result: Table | null = null;

serve({
  async open(engine: EngineChoice): Promise<EngineFacts> {
    return factsOf(await deviceOf(engine));
  },

  async load({ side, name, source }: LoadRequest, { signal, progress }: CallContext): Promise<TableFacts> {
    const start = performance.now();
    const notes: string[] = [];
    delete tables[side];
    const format = knownFormatOf(name);
    if (!format) throw new Error(`${name}: ${NO_FORMAT}`);
    const bytes = typeof source === "string" ? await fetched(source, signal) : source;
    const delimiter =
      isTextFormat(format) && !isGzipName(name) ? await delimiterOf(bytes, format) : undefined;
    if (delimiter)
      notes.push(
        `${name}: its first line has ${delimiter.called} between the names, so fields are read as separated by them.`,
      );
    const table = await readTable(bytes, {
      format,
      ...(delimiter && { delimiter: delimiter.character }),
      name,
      signal,
      onNote: (note) => notes.push(note),
      onProgress: (done, total) =>
        progress({ text: `Reading ${name}`, part: total > 0 ? done / total : undefined } satisfies Progress),
    });
    tables[side] = table;
    return {
      rows: table.numRows,
      columns: columnFacts(table),
      ms: performance.now() - start,
      notes,
      ...(delimiter && { delimiter: delimiter.character }),
      preview: cellsOf(table, 0, PREVIEW_ROWS),
    };
  },

  async run({ spec, engine }: RunRequest, { signal, progress }: CallContext): Promise<RunFacts> {
    progress({ text: "Opening the device" } satisfies Progress);
    const device = await deviceOf(engine);
    const run = await operate(tablesFor(tables, spec.kind), spec, device, {
      signal,
      onProgress: (done, total) =>
        progress({ text: "Running", part: total > 0 ? done / total : undefined } satisfies Progress),
    });
    result = run.table;
    const { table, ...facts } = run;
    const unmatched = await isUnmatched(tablesFor(tables, spec.kind), spec, table, device, signal);
    return { ...facts, unmatched, rows: table.numRows, columns: columnFacts(table), engine: factsOf(device) };
  },

  /** Keys of both sides of a join. */
  keys: (on: readonly (readonly [string, string])[]): KeyPair[] => keyPairs(tablesFor(tables, "join"), on),

  page: ({ from, count }: PageRequest) => cellsOf(resultTable(), from, count),

  async export(format: ExportFormat, { signal, progress }: CallContext): Promise<Moved> {
    const bytes = await tableToBytes(resultTable(), {
      format: format satisfies Format,
      signal,
      onProgress: (done, total) =>
        progress({
          text: `Writing ${format}`,
          part: total > 0 ? done / total : undefined,
        } satisfies Progress),
    });
    return new Moved(bytes, [bytes.buffer as ArrayBuffer]);
  },

  async compare({ spec, engine }: RunRequest, context: CallContext) {
    return compare(tablesFor(tables, spec.kind), spec, await deviceOf(engine), context);
  },
});

const PREVIEW_ROWS = 4;

const NO_FORMAT =
  "This page reads csv, tsv, parquet and arrow files (.csv, .tsv, .parquet, .arrow, .feather, .ipc; .gz may follow), known by the ends of their names.";

function resultTable(): Table {
  if (!result) throw new Error("There is no result yet. Run the operation first.");
  return result;
}

async function fetched(url: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url} could not be loaded: ${response.status} ${response.statusText}.`);
  return response.blob();
}
