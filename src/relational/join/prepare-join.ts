/** A join before its work: options checked, columns found and read that it needs. */

import {
  columnIndex,
  isSourceTable,
  readTable,
  type SourceColumn,
  type SourceTable,
} from "../../arrow/columns.js";
import type { OutputColumn } from "../../arrow/materialise.js";
import type { TableInput } from "../../arrow/table-input.js";
import type { OutputOption } from "../../containers/arguments.js";
import type { Placement } from "../../engine/engine.js";
import { JOIN_KINDS, type JoinKind, type Sides } from "../../engine/join-kinds.js";
import { ValidationError } from "../../errors.js";
import { checkBoolean, checkOneOf } from "../../options.js";
import { DeviceTable } from "../device/device-table.js";
import { type EncodedKeys, encodeKeys } from "../keys/encode-keys.js";
import { checkNames, RelationalCall } from "../relational-call.js";
import { codedColumns } from "./coded-columns.js";
import type { JoinOptions, JoinStage } from "./join.js";
import { pickColumns, possibleColumns } from "./join-columns.js";
import { checkFilter, type ReadFilter } from "./pair-filter.js";

/** What is joined. */
export type JoinSides = Sides<TableInput | DeviceTable>;

/** A join that can be run. */
export interface PreparedJoin {
  readonly call: RelationalCall<JoinStage>;
  /** The tables of both sides. */
  readonly inputs: readonly SourceTable[];
  readonly how: JoinKind;
  readonly nullsEqual: boolean;
  /** Rows of each side. */
  readonly rows: Sides<number>;
  /** Key columns: those of one place are compared. */
  readonly keys: Sides<readonly SourceColumn[]>;
  /** Encodes the keys, whose columns are on the host. @throws ValidationError when they cannot be compared */
  readonly encode: () => EncodedKeys;
  readonly outputs: readonly OutputColumn[];
  /** The side whose columns are dictionaries of their own rows. */
  readonly coded: "left" | "right" | null;
  readonly filter: ReadFilter | null;
}

/** @throws ValidationError for wrong options, and columns that there are not or that cannot be read */
export function prepareJoin(
  { left, right }: Sides<TableInput | DeviceTable | SourceTable>,
  options: JoinOptions<never> & OutputOption<Placement>,
): PreparedJoin {
  const call = new RelationalCall<JoinStage>(
    options,
    "on how select dictionaries where device nullsEqual memory output signal onProgress onPlan onStage",
  );
  checkOneOf("output", options.output ?? "host", ["host", "device"]);
  const { how = "inner", nullsEqual = false } = options;
  checkBoolean("nullsEqual", nullsEqual);
  checkKind(how);
  const pairs = keyNames(options);
  const { select, where, dictionaries: coded = null } = options;
  if (coded !== null) checkOneOf("dictionaries", coded, ["left", "right"]);
  const selected = select === undefined ? null : checkNames("join", "select", "column", select);
  const filter = where === undefined ? null : checkFilter(where);
  call.throwIfAborted();
  const tables = { left: readSide(left, "left"), right: readSide(right, "right") };
  const keys = {
    left: pairs.map(([name]) => columnIndex(tables.left, name, "left")),
    right: pairs.map(([, name]) => columnIndex(tables.right, name, "right")),
  };
  const columns: Sides<SourceColumn[]> = {
    left: keys.left.map((index) => tables.left.column(index)),
    right: keys.right.map((index) => tables.right.column(index)),
  };
  const rows = { left: tables.left.rows, right: tables.right.rows };
  const possible = possibleColumns(how, tables, keys);
  const outputs = selected ? pickColumns(possible, selected, "select") : possible.map(({ make }) => make());
  return {
    call,
    inputs: [tables.left, tables.right],
    how,
    nullsEqual,
    rows,
    keys: columns,
    encode: () => encodeKeys(columns.left, columns.right, rows),
    outputs: coded === null ? outputs : codedColumns(outputs, coded),
    coded,
    filter: filter && {
      columns: pickColumns(possibleColumns("inner", tables, keys), filter.columns, "where.columns"),
      test: filter.test,
    },
  };
}

function readSide(table: TableInput | DeviceTable | SourceTable, side: "left" | "right"): SourceTable {
  if (table instanceof DeviceTable) return table.source;
  return isSourceTable(table) ? table : readTable(table, side);
}

function keyNames(options: JoinOptions<never>): (readonly [string, string])[] {
  const example = 'Write on: ["id"], or on: [["origin", "iata"]] when the names differ.';
  const on: unknown = options.on;
  if (typeof on === "string") throw new ValidationError(`on is "${on}", not a list of columns.`, example);
  if (!Array.isArray(on) || on.length === 0)
    throw new ValidationError("join needs at least one key column.", example);
  return on.map((key: unknown) => {
    const pair = typeof key === "string" ? [key, key] : key;
    const valid = Array.isArray(pair) && pair.length === 2 && pair.every((name) => typeof name === "string");
    if (!valid) throw new ValidationError("A key of join is neither a name nor a pair of names.", example);
    return pair as [string, string];
  });
}

function checkKind(how: unknown): void {
  if (JOIN_KINDS.some((kind) => kind === how)) return;
  throw new ValidationError(
    `There is no join of kind "${String(how)}".`,
    `The kinds are ${JOIN_KINDS.map((kind) => `"${kind}"`).join(", ")}.`,
  );
}

/** A table that notes which of its columns somebody asked for. */
export function noting(table: SourceTable) {
  const asked = new Set<number>();
  const noted: SourceTable = {
    rows: table.rows,
    names: table.names,
    column(index) {
      asked.add(index);
      return table.column(index);
    },
    get columns() {
      return table.names.map((_, index) => noted.column(index));
    },
  };
  return { table: noted, needed: () => [...asked].sort((a, b) => a - b) };
}
