/** The checks of `openDevice`, loaded when it is given options besides `backend`. */
import type { OpenDeviceOptions } from "./device.js";
import { checkStrategy } from "./engine/plan.js";
import { ValidationError } from "./errors.js";
import { check, checkBoolean, checkCallbacks, checkOneOf, checkOptions, checkWhole } from "./options.js";

/** @throws ValidationError */
export function checkDeviceOptions(options: OpenDeviceOptions): void {
  checkOptions(
    options,
    "backend gpuDevice software threads powerPreference memory strategy groupSize concurrency seed signal",
  );
  const { gpuDevice, backend = "auto", signal } = options;
  checkCallbacks({ signal });
  checkOneOf("backend", backend, ["auto", "webgpu", "cpu"]);
  if (gpuDevice !== undefined && backend === "cpu") {
    throw new ValidationError(
      'A gpuDevice was given together with backend "cpu".',
      "Leave out one of the two.",
    );
  }
  const { software, threads = 1, concurrency = 1, powerPreference = "low-power" } = options;
  const isDevice = gpuDevice === undefined || typeof gpuDevice?.createBuffer === "function";
  check(isDevice, "gpuDevice", gpuDevice, "Give the GPUDevice that an adapter's requestDevice() answers.");
  checkBoolean("software", software);
  checkWhole("threads", threads, 1);
  checkWhole("concurrency", concurrency, 1);
  checkOneOf("power preference", powerPreference, ["low-power", "high-performance"]);
  checkStrategy(options);
  const { memory = {}, seed = 0 } = options;
  check(seed === seed >>> 0, "seed", seed, "Give a whole number from 0 to 4294967295, or none.");
  checkOptions(memory, "keep");
  const { keep = 0 } = memory;
  check(typeof keep === "number" && keep >= 0, "memory.keep", keep, "Give bytes, at least 0.");
}
