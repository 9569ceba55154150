/** Where a join runs: on the host's columns, or on the device's, where a side lies there, the result is to, or the engine prefers it. */
import type { Table } from "@uwdata/flechette";
import type { OutputOption } from "../containers/arguments.js";
import type { Device } from "../device.js";
import type { Placement } from "../engine/engine.js";
import type { Sides } from "../engine/join-kinds.js";
import { lazily } from "../engine/lazily.js";
import { isHeld } from "./column-transport.js";
import { broughtBack, commonDevice, DeviceTable, uploadTable } from "./device-table.js";
import type { JoinOptions } from "./join.js";
import { type JoinSides, type PreparedJoin, prepareJoin } from "./prepare-join.js";
import { joinTable } from "./run-join.js";
import type { TableInput } from "./table-input.js";

const loadDeviceJoin = lazily(() => import("./device-join.js"));

/** Joins two tables. @throws as `join` */
export async function joinSides(
  sides: JoinSides,
  options: JoinOptions<never> & OutputOption<Placement>,
): Promise<Table | DeviceTable> {
  const prepared = prepareJoin(sides, options);
  const { output = "host" } = options;
  const tables = [sides.left, sides.right].filter((side) => side instanceof DeviceTable);
  const device = commonDevice(options.device, tables) ?? (await prepared.call.begin());
  const isThere = tables.length > 0 || output === "device";
  if (joinsThere(prepared) && (isThere || (await prefersThere(device, prepared)))) {
    const { joinOnDevice } = await loadDeviceJoin();
    const joined = await joinOnDevice(device, prepared);
    const answer = output === "device" ? joined : await broughtBack(joined);
    prepared.call.endStage("materialise");
    prepared.call.tellPlan();
    return answer;
  }
  const host = tables.length > 0 ? prepareJoin(await onHost(sides), { ...options, device }) : prepared;
  const joined = await joinTable(host);
  return output === "device" ? uploadTable(device, joined) : joined;
}

/** Both sides on the host. */
export async function onHost({ left, right }: JoinSides): Promise<Sides<TableInput>> {
  const bring = async (side: TableInput | DeviceTable) =>
    side instanceof DeviceTable ? side.toArrow() : side;
  return { left: await bring(left), right: await bring(right) };
}

/** Key columns of full joins come from both sides, conditions are JavaScript, and codes are row numbers on the host: all take the host. */
export function joinsThere({ how, filter, coded }: PreparedJoin): boolean {
  return how !== "full" && filter === null && coded === null;
}

/** Whether tables of the host are better joined on the device. Semi and anti joins promise the left's order. */
async function prefersThere(device: Device, { how, outputs, keys }: PreparedJoin): Promise<boolean> {
  if (how === "semi" || how === "anti") return false;
  const { prefersColumnsThere } = await device.engine.rows();
  const columns = [...keys.left, ...keys.right, ...outputs.map(({ left, right }) => (left ?? right)?.source)];
  return prefersColumnsThere && columns.every((column) => column !== undefined && isHeld(column.field.type));
}
