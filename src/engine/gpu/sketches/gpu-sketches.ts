/** Sketch operations over a GpuHost. */
import type { SketchOperations } from "../../sketch-operations.js";
import type { GpuHost } from "../host.js";
import { GpuFilter } from "./gpu-filter.js";
import { GpuRegisters } from "./gpu-registers.js";

export const operationsOf = (host: GpuHost): SketchOperations => ({
  filter: (key, blocks, contents) => GpuFilter.create(host, key, blocks, contents),
  registers: (key, precision, contents) => GpuRegisters.create(host, key, precision, contents),
});
