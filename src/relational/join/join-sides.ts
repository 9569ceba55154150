/** Where a join runs: on the host's columns, or on the device's, where a side lies there, the result is to, or the engine prefers it. */
import type { Table } from "@uwdata/flechette";
import type { TableInput } from "../../arrow/table-input.js";
import type { OutputOption } from "../../containers/arguments.js";
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import type { Sides } from "../../engine/join-kinds.js";
import { lazily } from "../../engine/lazily.js";
import { isHeld } from "../device/column-transport.js";
import { commonDevice, DeviceTable, uploadTable } from "../device/device-table.js";
import type { JoinOptions } from "./join.js";
import { type JoinSides, type PreparedJoin, prepareJoin } from "./prepare-join.js";
import { joinTable } from "./run-join.js";

const loadDeviceJoin = lazily(() => import("./device-join.js"));

type SidesOptions = JoinOptions<never> & OutputOption<Placement>;

/** Joins two tables. @throws as `join` */
export async function joinSides(sides: JoinSides, options: SidesOptions): Promise<Table | DeviceTable> {
  const { prepared, device, isThere } = await placeOf(sides, options);
  const { output = "host" } = options;
  return prepared.call.onSlot(device, prepared.inputs, () =>
    joinOn(device, { prepared, isThere, sides, options, output }),
  );
}

async function joinOn(
  device: Device,
  {
    prepared,
    isThere,
    sides,
    options,
    output,
  }: Omit<Placing, "device"> & { sides: JoinSides; options: SidesOptions; output: Placement },
): Promise<Table | DeviceTable> {
  if (isThere) return joinThere(device, prepared, output);
  const isHost = !(sides.left instanceof DeviceTable) && !(sides.right instanceof DeviceTable);
  const host = isHost ? prepared : prepareJoin(await onHost(sides), { ...options, device });
  const joined = await joinTable(host);
  return output === "device" ? uploadTable(device, joined) : joined;
}

/** The join as a table on the device, for a call that goes on there; null where `joinSides` would join on the host. */
export async function joinedThere(sides: JoinSides, options: SidesOptions): Promise<DeviceTable | null> {
  const { prepared, device, isThere } = await placeOf(sides, options);
  if (!isThere) return null;
  const made = await prepared.call.onSlot(device, prepared.inputs, () =>
    joinThere(device, prepared, "device"),
  );
  return made as DeviceTable;
}

/** Where a join runs. */
interface Placing {
  readonly prepared: PreparedJoin;
  readonly device: Device;
  readonly isThere: boolean;
}

async function placeOf(sides: JoinSides, options: SidesOptions): Promise<Placing> {
  const prepared = prepareJoin(sides, options);
  const tables = [sides.left, sides.right].filter((side) => side instanceof DeviceTable);
  const device = commonDevice(options.device, tables) ?? (await prepared.call.begin());
  const isAsked = tables.length > 0 || options.output === "device";
  const isThere = joinsThere(prepared) && (isAsked || (await prefersThere(device, prepared)));
  return { prepared, device, isThere };
}

async function joinThere(device: Device, prepared: PreparedJoin, output: Placement) {
  const { joinOnDevice } = await loadDeviceJoin();
  const answer = await joinOnDevice(device, prepared, output);
  prepared.call.endStage("materialise");
  prepared.call.tellPlan();
  return answer;
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
  const operations = await device.engine.rows();
  const columns = [...keys.left, ...keys.right, ...outputs.map(({ left, right }) => (left ?? right)?.source)];
  return (
    operations.prefers(how) && columns.every((column) => column !== undefined && isHeld(column.field.type))
  );
}
