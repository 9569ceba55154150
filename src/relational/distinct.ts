/** Rows of a table that differ in some columns: of equal rows one is kept, or none. */
import type { Table } from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import { checkOneOf } from "../options.js";
import { countRows } from "./aggregate/grouped-values.js";
import { lastRows } from "./aggregate/states.js";
import { first } from "./aggregates.js";
import { eachBatch } from "./batch-reader.js";
import { columnIndex, readTable } from "./columns.js";
import { encodeOwnKeys } from "./encode-keys.js";
import { GroupBy, groupingResult } from "./group-by.js";
import type { GroupByOptions, GroupCallOptions, GroupStage } from "./group-calls.js";
import { type GroupedRows, groupRows } from "./group-rows.js";
import { plainColumn } from "./join-columns.js";
import { loadSpill } from "./load-spill.js";
import { materialiseAnswer } from "./materialise.js";
import { checkMemory } from "./memory-options.js";
import { checkNames, RelationalCall } from "./relational-call.js";
import { batchesOf, type TableInput, type Tables } from "./table-input.js";
import type { TableResult } from "./table-result.js";

/** Options of {@link distinct}. */
export interface DistinctOptions extends GroupCallOptions {
  /** Columns that are compared; a null is equal to a null. Default: all of the table's. */
  readonly on?: readonly string[];
}

/** Which of equal rows stays: the first, the last, or none of them. */
export type Keep = "first" | "last" | "none";

const KEEPS: readonly Keep[] = ["first", "last", "none"];

/** Options of {@link dropDuplicates}. */
export interface DropDuplicatesOptions extends Omit<DistinctOptions, "memory"> {
  /** Default: `"first"`. `"none"` leaves out every row that equals another one. */
  readonly keep?: Keep;
}

/**
 * Leaves out the rows of a table that equal an earlier one, and returns a flechette table with all columns, in the table's
 * order. The engine finds equal rows. Memory besides the answer: what the engine takes for the groups, and 4 bytes a row and 12 a
 * group on the host. Of an iterable or async iterable of tables or record batches the rows are those of one table with all
 * their rows, in memory proportional to those that are kept; with `memory` it is bounded, and rows come in any order, of equal ones
 * still the first.
 *
 * @throws ValidationError for wrong options, unknown columns, and columns that cannot be compared
 * @example
 * const flights = tableFromArrays({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] });
 * const origins = await distinct(flights, { on: ["origin"] });
 * console.log(origins.numRows, origins.names); // 2 [ 'origin', 'delay' ]
 */
export function distinct(table: TableInput | Tables, options: DistinctOptions = {}): TableResult {
  return groupingResult(
    () => distinctHere(table, options),
    async function* () {
      const { distinctLarge } = await loadSpill();
      const { memory, ...others } = options;
      yield* distinctLarge(table, others, checkMemory(memory as never));
    },
    options,
  );
}

async function distinctHere(table: TableInput | Tables, options: DistinctOptions): Promise<Table> {
  const call = new RelationalCall<GroupStage>(options, "on memory device signal onProgress onPlan onStage");
  const batches = batchesOf(table);
  if (batches !== null) return distinctOf(batches, options);
  return keepRows("distinct", table as TableInput, options.on, "first", call);
}

/** A group-by of the compared columns, with the first of each other one. */
async function distinctOf(batches: Tables, { on, memory: _, ...options }: DistinctOptions): Promise<Table> {
  let groups: GroupBy | undefined;
  let names: readonly string[] = [];
  for await (const batch of eachBatch(batches, options.signal)) {
    if (groups === undefined) {
      names = readTable(batch, "").names;
      groups = new GroupBy({ ...options, ...asGroups(names, on) });
    }
    await groups.add(batch);
  }
  if (groups === undefined)
    throw new ValidationError("No batch was given.", "Give one; it may be without rows.");
  return (await groups.finish()).select([...names]);
}

/** The group-by that is a distinct of columns: the first of each that is not compared. */
export function asGroups(
  names: readonly string[],
  on: readonly string[] | undefined,
): Pick<GroupByOptions, "by" | "aggregate"> {
  const by = on === undefined ? names : checkNames("distinct", "on", "key column", on);
  const others = names.filter((name) => !by.includes(name));
  return { by, aggregate: Object.fromEntries(others.map((name) => [name, first(name)])) };
}

/**
 * As {@link distinct}, with the choice of which of equal rows stays. Rows keep the table's order.
 *
 * @throws as `distinct`
 * @example
 * const visits = { user: ["ann", "bob", "ann"], page: [1, 2, 3] };
 * const latest = await dropDuplicates(visits, { on: ["user"], keep: "last" });
 * console.log(latest.toArray()); // [ { user: 'bob', page: 2 }, { user: 'ann', page: 3 } ]
 */
export async function dropDuplicates(table: TableInput, options: DropDuplicatesOptions = {}): Promise<Table> {
  const call = new RelationalCall<GroupStage>(options, "on keep device signal onProgress onPlan onStage");
  const { keep = "first" } = options;
  checkOneOf("keep", keep, KEEPS);
  return keepRows("dropDuplicates", table, options.on, keep, call);
}

async function keepRows(
  name: string,
  table: TableInput,
  asked: readonly string[] | undefined,
  keep: Keep,
  call: RelationalCall<GroupStage>,
): Promise<Table> {
  const on = asked === undefined ? null : checkNames(name, "on", "key column", asked);
  call.throwIfAborted();
  const source = readTable(table, "");
  const { columns } = source;
  const keys = on === null ? columns : on.map((name) => columns[columnIndex(source, name, "")]);
  if (keys.length === 0) throw new ValidationError("The table has no columns.", "Give one that has some.");

  const device = await call.begin();
  const encoded = encodeOwnKeys(keys, source.rows);
  call.endStage("encode keys");

  const grouped = await call.onEngine((engineCall) => groupRows(device, encoded, engineCall));
  const kept = keptRows(grouped, keep);
  call.endStage("group rows");

  const outputs = columns.map((column) => plainColumn("left", column));
  const rows = { rows: kept.length, left: kept, right: null };
  return materialiseAnswer(outputs, [rows], call, device);
}

/** Ascending. */
function keptRows({ groupOf, firsts }: GroupedRows, keep: Keep): Uint32Array {
  if (keep === "first") return firsts;
  if (keep === "last") return lastRows(groupOf, firsts.length).sort();
  const counts = countRows(groupOf, firsts.length);
  return firsts.filter((_, group) => counts[group] === 1);
}
