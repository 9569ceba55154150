/**
 * The answer of a group-by on a device. What the device has computed stays there until it is asked for; aggregates that
 * it has left are computed on the host, over the groups' numbers of the rows, and put beside the others.
 */
import type { Table } from "@uwdata/flechette";
import type { SourceColumn } from "../../arrow/columns.js";
import { materialise, type OutputColumn, plainColumn } from "../../arrow/materialise.js";
import type { Device } from "../../device.js";
import { destroyColumns } from "../../engine/device-columns.js";
import type { Placement } from "../../engine/engine.js";
import { inOrder } from "../aggregate/group-rows.js";
import type { GroupedSource } from "../aggregate/group-states.js";
import { type TableColumn, uploadColumn } from "../device/column-transport.js";
import { broughtBack, DeviceTable, toHost } from "../device/device-table.js";
import type { DeviceGroups } from "./device-group.js";
import type { Grouping } from "./grouping.js";

/** Computes what is left of an answer, and puts it where it is asked for. Takes the groups over. */
export async function finishGroups(
  device: Device,
  grouping: Grouping,
  source: GroupedSource,
  made: DeviceGroups,
  output: Placement,
): Promise<Table | DeviceTable> {
  const { call } = grouping;
  const { groups, columns } = made;
  const there = columns.filter((column) => column !== undefined);
  try {
    const left = await aggregatesLeft(device, grouping, source, made);
    // a device aggregates as it groups: what it does has no time of its own
    call.endStage("aggregate");
    if (output === "device") {
      const uploaded = await uploadOutputs(device, left);
      return new DeviceTable(device, groups, inPlaces(columns, there, uploaded));
    }
    const table = new DeviceTable(device, groups, there);
    if (left.length === 0) return await broughtBack(table);
    const outputs = inPlaces(columns, await hostOutputs(table), left);
    const rows = Uint32Array.from({ length: groups }, (_, group) => group);
    return await materialise(outputs, [{ rows: groups, left: null, right: rows }], call.pause);
  } catch (error) {
    destroyColumns(there);
    throw error;
  } finally {
    made.left?.groupOf.destroy();
  }
}

/** The aggregates that the device has left, with their values on the host. */
async function aggregatesLeft(
  device: Device,
  grouping: Grouping,
  { columns }: GroupedSource,
  { groups, left }: DeviceGroups,
): Promise<readonly OutputColumn[]> {
  if (left === null) return [];
  const names = new Set(left.aggregates.map(({ aggregate }) => aggregate.column as string));
  const brought = Array.from(
    names,
    async (name) => [name, await toHost(columns.get(name) as SourceColumn)] as const,
  );
  const source = { keys: [], columns: new Map(await Promise.all(brought)) };
  const grouped = inOrder(await left.groupOf.read(), groups);
  const states = await grouping.statesOf(device, source, grouped, left.aggregates);
  return states.outputs(left.aggregates);
}

/**
 * The columns of a table on the device, which is freed: columns of one table are made together, since they share
 * dictionaries.
 */
async function hostOutputs(table: DeviceTable): Promise<OutputColumn[]> {
  try {
    const brought = await Promise.all(table.source.columns.map(toHost));
    return brought.map((column) => plainColumn("right", column));
  } finally {
    table.destroy();
  }
}

async function uploadOutputs(device: Device, outputs: readonly OutputColumn[]): Promise<TableColumn[]> {
  const uploaded: TableColumn[] = [];
  try {
    for (const { right } of outputs)
      uploaded.push(await uploadColumn(device.engine, right?.source as SourceColumn));
    return uploaded;
  } catch (error) {
    destroyColumns(uploaded);
    throw error;
  }
}

/** Columns in the answer's order: those of the device, and where it has none those of the host. */
function inPlaces<T>(columns: DeviceGroups["columns"], there: readonly T[], here: readonly T[]): T[] {
  let [nextThere, nextHere] = [0, 0];
  return columns.map((column) => (column ? there[nextThere++] : here[nextHere++]));
}
