/** What the types of joins promise, checked by `npm run typecheck`. Nothing here runs. */
import type { Table } from "@uwdata/flechette";
import type { Table as ApacheTable } from "apache-arrow";
import type { Device } from "../../src/index.js";
import {
  type IndexedJoinOptions,
  JoinIndex,
  type JoinKind,
  type JoinOptions,
  type JoinResult,
  join,
  type PairFilter,
} from "../../src/relational/index.js";

declare const left: Table;
declare const right: ApacheTable;
declare const how: JoinKind;

export async function kinds(): Promise<Table[]> {
  const all: Record<JoinKind, true> = {
    inner: true,
    left: true,
    right: true,
    full: true,
    semi: true,
    anti: true,
  };
  const options: JoinOptions = { on: ["id"], how, nullsEqual: true };
  // @ts-expect-error: a full join is called "full"
  await join(left, right, { on: ["id"], how: "outer" });
  // @ts-expect-error: keys are a list
  await join(left, right, { on: "id", how: "left" });
  // @ts-expect-error: kinds are names
  await join(left, right, { on: ["id"], how: true });
  // @ts-expect-error: some string is not a kind
  const other: JoinKind = String(all);
  return [
    await join(left, right, options),
    await join(right, left, { on: [["a", "b"]] }),
    await join(left, left, { on: ["id"], how: other }),
  ];
}

export async function indexes(device: Device): Promise<Table[]> {
  const index: JoinIndex = await JoinIndex.create(device, right, { on: ["id"], nullsEqual: true });
  const options: IndexedJoinOptions = { on: ["a"], how, side: "right", select: ["id"] };
  const tables: Table[] = [];
  for await (const table of index.joinAll([left, left], options)) tables.push(table);
  // @ts-expect-error: the index has its device
  await index.join(left, { device });
  // @ts-expect-error: made by create
  new JoinIndex(device, left, { on: ["id"] });
  const rows: number = index.rows;
  return [...tables, await index.join({ id: [rows] }), await index.join(left, options)];
}

export async function answers(): Promise<Table[]> {
  const asked: JoinResult = join(left, right, { on: ["id"], select: ["id", "at"] });
  const rows: number = await asked.count();
  const tables: Table[] = [];
  for await (const batch of asked.batches({ maxBytes: rows })) tables.push(batch);
  const test = ({ at, until }: { at: number; until: number | null }) => until === null || at < until;
  const where: PairFilter<{ at: number; until: number | null }> = { columns: ["at", "until"], test };
  // @ts-expect-error: a condition answers true or false
  await join(left, right, { on: ["id"], where: { columns: ["at"], test: ({ at }) => at } });
  // @ts-expect-error: and names its columns
  await join(left, right, { on: ["id"], where: { test } });
  // @ts-expect-error: columns are a list
  await join(left, right, { on: ["id"], select: "id" });
  return [...tables, await join(left, right, { on: ["id"], where }), await asked.finally(() => {})];
}
