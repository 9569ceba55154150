/** Groups of some rows of many, as plain data, by the hash of their keys; and the groups of all, of those of some. */
import type { Table } from "@uwdata/flechette";
import { eachBatch } from "../arrow/batch-reader.js";
import { readTable } from "../arrow/columns.js";
import type { Batches } from "../arrow/table-input.js";
import {
  arePartial,
  type PartStates,
  packStates,
  plainStates,
  receivedStates,
} from "../relational/aggregate/part-states.js";
import { Grouping, StatesSum } from "../relational/group/grouping.js";
import type { GroupByOptions } from "../relational/group-calls.js";
import { encodeOwnKeys } from "../relational/keys/encode-keys.js";
import { FIRST_CUT, partitionsOf, rowsByPartition } from "../spill/row-partitions.js";

export type { PartStates };

/** Whether groups of some rows say all that the groups of all ask: else rows travel. */
export function areMergeable(options: GroupByOptions): boolean {
  return arePartial(new Grouping("groupBy", options).aggregates);
}

/** The groups of rows by partition, null for those without; aggregates are mergeable. */
export async function groupUnit(
  tables: Batches,
  options: GroupByOptions,
  count: number,
): Promise<(PartStates | null)[]> {
  const grouping = new Grouping("groupBy", options);
  const sum = new StatesSum(grouping);
  let rows = 0;
  for await (const table of eachBatch(tables, options.signal)) {
    rows += readTable(table, "").rows;
    await sum.add([plainStates((await grouping.read(table)).states.own())]);
  }
  if (rows === 0) return Array.from({ length: count }, () => null);
  const states = await sum.merged();
  const numbers = partitionsOf(encodeOwnKeys(states.keys, states.groups), count, FIRST_CUT, false);
  const device = await grouping.call.begin();
  const parts: (PartStates | null)[] = [];
  for (const groups of rowsByPartition(numbers, count)) {
    const own = groups.length > 0 ? await grouping.select(device, states, groups) : null;
    parts.push(own && packStates(plainStates(own.own()), groups.length));
  }
  return parts;
}

/** The groups of all rows, of those of some. @param like a table of the rows' columns, without rows */
export async function groupParts(
  parts: Iterable<PartStates> | AsyncIterable<PartStates>,
  like: Table,
  options: GroupByOptions,
): Promise<Table> {
  const grouping = new Grouping("groupBy", options);
  const device = await grouping.call.begin();
  const sum = new StatesSum(grouping);
  const source = readTable(like, "");
  for await (const part of parts) await sum.add([receivedStates(part, source, grouping.by)]);
  if (sum.parts.length === 0) await sum.add([(await grouping.read(like)).states.own()]);
  return grouping.finish({ device, states: await sum.merged() });
}
