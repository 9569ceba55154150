/** The registers of a HyperLogLog of the cpu engine. */
import type { CallOptions, ColumnInput } from "../../engine.js";
import type { BasicType } from "../../scalars.js";
import type { Combination, EngineRegisters } from "../../sketch-operations.js";
import type { CpuEngine } from "../cpu-engine.js";
import { CpuSketch } from "./cpu-sketch.js";

export class CpuRegisters<K extends BasicType> extends CpuSketch<K> implements EngineRegisters<K> {
  constructor(
    engine: CpuEngine,
    key: K,
    private readonly precision: number,
    isZeroed: boolean,
  ) {
    super(engine, key, engine.buffers.allocate(2 ** precision, isZeroed));
  }

  add(keys: ColumnInput<K>, call: CallOptions): Promise<void> {
    const { precision } = this;
    return this.eachChunk(keys, call, async ({ keys, where, count, grain, run }) => {
      const results = await run({ kind: "registers add", keys, where, count, grain, precision });
      const registers = this.contents;
      for (const { buffers } of results.flatMap(({ made }) => made))
        raise(registers, new Uint8Array(buffers[0]));
    });
  }

  async copy(): Promise<CpuRegisters<K>> {
    const copy = new CpuRegisters(this.engine, this.key, this.precision, false);
    await copy.write(this.contents);
    return copy;
  }

  protected take(own: Uint8Array, other: Uint8Array, _how: Combination): void {
    raise(own, other);
  }
}

function raise(registers: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < registers.length; i++) if (other[i] > registers[i]) registers[i] = other[i];
}
