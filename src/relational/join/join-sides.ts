/** Joins of two tables, each of which lies on the host or on a device. */
import type { Table } from "@uwdata/flechette";
import type { TableInput } from "../../arrow/table-input.js";
import type { OutputOption } from "../../containers/arguments.js";
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import type { Sides } from "../../engine/join-kinds.js";
import { lazily } from "../../engine/lazily.js";
import { commonDevice, DeviceTable, uploadTable } from "../device/device-table.js";
import type { JoinOptions } from "./join.js";
import { placeOf } from "./join-place.js";
import { type JoinSides, type PreparedJoin, prepareJoin } from "./prepare-join.js";
import { joinTable } from "./run-join.js";

const loadDeviceJoin = lazily(() => import("./device-join.js"));

type SidesOptions = JoinOptions<never> & OutputOption<Placement>;

/** Joins two tables. @throws as `join` */
export async function joinSides(sides: JoinSides, options: SidesOptions): Promise<Table | DeviceTable> {
  const { prepared, device, place, isHost } = await prepare(sides, options);
  const { output = "host" } = options;
  return prepared.call.onSlot(device, prepared.inputs, async () => {
    if (place === "device") return joinThere(device, prepared, output);
    const joined = await joinTable(
      isHost ? prepared : prepareJoin(await onHost(sides), { ...options, device }),
    );
    return output === "device" ? uploadTable(device, joined) : joined;
  });
}

/** The join as a table on the device, for a call that goes on there; null where `joinSides` would join on the host. */
export async function joinedThere(sides: JoinSides, options: SidesOptions): Promise<DeviceTable | null> {
  const { prepared, device, place } = await prepare(sides, options);
  if (place === "host") return null;
  const made = await prepared.call.onSlot(device, prepared.inputs, () =>
    joinThere(device, prepared, "device"),
  );
  return made as DeviceTable;
}

async function prepare(sides: JoinSides, options: SidesOptions) {
  const prepared = prepareJoin(sides, options);
  const tables = [sides.left, sides.right].filter((side) => side instanceof DeviceTable);
  const device = commonDevice(options.device, tables) ?? (await prepared.call.begin());
  const place = await placeOf(device, prepared, options.output ?? "host", true);
  return { prepared, device, place, isHost: tables.length === 0 };
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
