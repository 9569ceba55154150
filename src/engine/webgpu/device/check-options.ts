/** The checks of the options that choose a GPU, loaded when one of them is given. */
import { check, checkBoolean, checkOneOf } from "../../../options.js";
import type { WebgpuOptions } from "../native-types.js";

/** @throws ValidationError */
export function checkOptions({ gpuDevice, software, powerPreference = "low-power" }: WebgpuOptions): void {
  const isDevice = gpuDevice === undefined || typeof gpuDevice?.createBuffer === "function";
  check(isDevice, "gpuDevice", gpuDevice, "Give the GPUDevice that an adapter's requestDevice() answers.");
  checkBoolean("software", software);
  checkOneOf("power preference", powerPreference, ["low-power", "high-performance"]);
}
