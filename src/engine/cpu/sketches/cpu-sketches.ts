/** The cpu engine's sketch operations, on the threads that it has for rows. */
import type { BasicType } from "../../scalars.js";
import type { EngineFilter, EngineRegisters, SketchOperations } from "../../sketch-operations.js";
import type { CpuEngine } from "../cpu-engine.js";
import { CpuFilter } from "./cpu-filter.js";
import { CpuRegisters } from "./cpu-registers.js";

export class CpuSketches implements SketchOperations {
  constructor(private readonly engine: CpuEngine) {}

  async filter<K extends BasicType>(key: K, blocks: number, contents?: Uint8Array): Promise<EngineFilter<K>> {
    this.engine.guard();
    const filter = new CpuFilter(this.engine, key, blocks, contents === undefined);
    if (contents) await filter.write(contents);
    return filter;
  }

  async registers<K extends BasicType>(
    key: K,
    precision: number,
    contents?: Uint8Array,
  ): Promise<EngineRegisters<K>> {
    this.engine.guard();
    const registers = new CpuRegisters(this.engine, key, precision, contents === undefined);
    if (contents) await registers.write(contents);
    return registers;
  }
}
