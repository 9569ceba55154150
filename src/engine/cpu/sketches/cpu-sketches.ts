/** The cpu engine's sketch operations, on the threads that it has for rows. */
import type { SketchOperations } from "../../sketch-operations.js";
import type { CpuEngine } from "../cpu-engine.js";
import { CpuFilter } from "./cpu-filter.js";
import { CpuRegisters } from "./cpu-registers.js";

export const operationsOf = (engine: CpuEngine): SketchOperations => ({
  async filter(key, blocks, contents) {
    engine.guard();
    const filter = new CpuFilter(engine, key, blocks, contents === undefined);
    if (contents) await filter.write(contents);
    return filter;
  },
  async registers(key, precision, contents) {
    engine.guard();
    const registers = new CpuRegisters(engine, key, precision, contents === undefined);
    if (contents) await registers.write(contents);
    return registers;
  },
});
