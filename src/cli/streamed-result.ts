/** A result that comes table by table: what is told of it afterwards is gathered as it passes. */
import type { Table } from "@uwdata/flechette";
import { firstRows } from "../arrow/first-rows.js";
import { stackTables } from "../arrow/stack-tables.js";
import { type TableCommand, worked } from "./table-command.js";
import { FIRST_ROWS } from "./text.js";

interface ResultOptions {
  /** Rows, at most. Default: all. */
  readonly limit?: number;
  /** Whether its first rows are kept. */
  readonly hasPreview: boolean;
}

export class StreamedResult {
  numRows = 0;
  names: string[] = [];
  /** Enough for a preview. */
  head: Table | undefined;
  readonly #tables: AsyncIterator<Table>;

  constructor(
    readonly command: TableCommand,
    tables: AsyncIterable<Table>,
    readonly options: ResultOptions,
  ) {
    this.#tables = tables[Symbol.asyncIterator]();
  }

  get numCols(): number {
    return this.names.length;
  }

  /** Once. At least one table. Who stops early ends what makes them. */
  async *tables(): AsyncGenerator<Table> {
    const { limit = Number.POSITIVE_INFINITY } = this.options;
    try {
      for (;;) {
        const next = await worked(this.command, async () => {
          const { value, done } = await this.#tables.next();
          return done ? undefined : (value as Table);
        });
        if (next === undefined) return;
        const table = firstRows(next, limit - this.numRows);
        this.#note(table);
        yield table;
        if (this.numRows === limit) return;
      }
    } finally {
      await this.#tables.return?.();
    }
  }

  #note(table: Table): void {
    this.names = table.names.map(String);
    this.numRows += table.numRows;
    if (!this.options.hasPreview || (this.head?.numRows ?? -1) >= FIRST_ROWS) return;
    const head = this.head === undefined ? table : stackTables([this.head, table]);
    this.head = firstRows(head, FIRST_ROWS);
  }
}
