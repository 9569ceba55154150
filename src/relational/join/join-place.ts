/** Where a join runs: the one place that decides it. */
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import { isHeld } from "../device/column-transport.js";
import { deviceColumnOf } from "../device/device-table.js";
import type { PreparedJoin } from "./prepare-join.js";

/**
 * The device's memory where a side lies there, the result is to, or the engine prefers it; else the host's. Key columns of full joins
 * come from both sides, conditions are JavaScript, and codes are row numbers on the host: all take the host. So do semi and anti joins of
 * tables of the host, which promise the left's order.
 * @param output where the result is wanted
 * @param mayPrefer the engine is asked, where nothing lies on the device; not for indexes, whose columns would stay there
 */
export async function placeOf(
  device: Device,
  { how, filter, coded, outputs, keys }: PreparedJoin,
  output: Placement,
  mayPrefer: boolean,
): Promise<Placement> {
  if (how === "full" || filter !== null || coded !== null) return "host";
  const compared = [...keys.left, ...keys.right];
  if (output === "device" || compared.some((key) => deviceColumnOf(key) !== undefined)) return "device";
  if (!mayPrefer || how === "semi" || how === "anti") return "host";
  const operations = await device.engine.rows();
  const columns = [...compared, ...outputs.map(({ left, right }) => (left ?? right)?.source)];
  const areHeld = columns.every((column) => column !== undefined && isHeld(column.field.type));
  return operations.prefers(how) && areHeld ? "device" : "host";
}
