/** The webgpu engine's sketch operations. */
import type { BasicType } from "../../scalars.js";
import type { EngineFilter, EngineRegisters, SketchOperations } from "../../sketch-operations.js";
import type { GpuHost } from "../host.js";
import { GpuFilter } from "./gpu-filter.js";
import { GpuRegisters } from "./gpu-registers.js";

export class GpuSketches implements SketchOperations {
  constructor(private readonly host: GpuHost) {}

  filter<K extends BasicType>(key: K, blocks: number, contents?: Uint8Array): Promise<EngineFilter<K>> {
    return GpuFilter.create(this.host, key, blocks, contents);
  }

  registers<K extends BasicType>(
    key: K,
    precision: number,
    contents?: Uint8Array,
  ): Promise<EngineRegisters<K>> {
    return GpuRegisters.create(this.host, key, precision, contents);
  }
}
