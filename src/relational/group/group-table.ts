/**
 * Where a table is grouped: on the device, where the table lies there, the answer is to, or the engine prefers it, and
 * can hold the keys; else on the host. Answers do not depend on it.
 */
import type { Table } from "@uwdata/flechette";
import { readTable } from "../../arrow/columns.js";
import type { TableInput } from "../../arrow/table-input.js";
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import { lazily } from "../../engine/lazily.js";
import type { ColumnReducer } from "../../engine/reductions.js";
import { LimitError } from "../../errors.js";
import { whyGroupedOnHost } from "../aggregate/device-aggregates.js";
import { type GroupedSource, openSource } from "../aggregate/group-states.js";
import { commonDevice, DeviceTable, toHost, uploadTable } from "../device/device-table.js";
import type { DeviceGrouping, DeviceGroups } from "./device-group.js";
import type { Grouping } from "./grouping.js";

const loadGroup = lazily(() => import("./device-group.js"));
const loadFinish = lazily(() => import("./finish-groups.js"));

/** Groups a table. @throws as `groupBy` */
export async function groupTable(
  grouping: Grouping,
  table: TableInput | DeviceTable,
  output: Placement,
): Promise<Table | DeviceTable> {
  const { call, by, aggregates } = grouping;
  call.throwIfAborted();
  const isThere = table instanceof DeviceTable;
  const opened = isThere ? table.source : readTable(table, "");
  const { rows } = opened;
  const source = openSource(opened, by, aggregates);
  const device = commonDevice(call.options.device, isThere ? [table] : []) ?? (await call.begin());
  return call.onSlot(device, [opened], () => groupOn(device, grouping, { source, rows, isThere, output }));
}

/** What is grouped, and where. */
interface Grouped {
  readonly source: GroupedSource;
  readonly rows: number;
  readonly isThere: boolean;
  readonly output: Placement;
}

async function groupOn(
  device: Device,
  grouping: Grouping,
  { source, rows, isThere, output }: Grouped,
): Promise<Table | DeviceTable> {
  const { call, aggregates } = grouping;
  const operations = await device.engine.rows();
  const { reducer } = operations;
  let why: string | undefined;
  if (reducer && (isThere || output === "device" || operations.prefers("group"))) {
    const made = await onDevice(device, reducer, { call, rows, source, aggregates });
    if (typeof made !== "string") {
      const { finishGroups } = await loadFinish();
      const answer = await finishGroups(device, grouping, source, made, output);
      call.endStage("materialise");
      call.tellPlan();
      return answer;
    }
    why = `aggregated on the host: ${made}`;
  }
  const onHost = isThere ? await broughtToHost(source) : source;
  const made = await grouping.finish(await grouping.readSource(device, onHost, rows, true, why));
  return output === "device" ? uploadTable(device, made) : made;
}

/** The groups, or why the host has to make them. */
async function onDevice(
  device: Device,
  reducer: ColumnReducer,
  grouping: DeviceGrouping,
): Promise<DeviceGroups | string> {
  const why = whyGroupedOnHost(grouping.source);
  if (why !== undefined) return why;
  const { groupOnDevice } = await loadGroup();
  try {
    return await groupOnDevice(device, reducer, grouping);
  } catch (error) {
    // the host's way takes less of the device's memory
    if (error instanceof LimitError) return error.message;
    throw error;
  }
}

async function broughtToHost({ keys, columns }: GroupedSource): Promise<GroupedSource> {
  const brought = await Promise.all(
    Array.from(columns, async ([name, column]) => [name, await toHost(column)] as const),
  );
  return { keys: await Promise.all(keys.map(toHost)), columns: new Map(brought) };
}
