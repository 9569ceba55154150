/** A Bloom filter of the cpu engine. */
import type { CallOptions, ColumnInput, ColumnOutput, Destination } from "../../engine.js";
import { asBits, type BasicType } from "../../scalars.js";
import { BLOCK_BYTES } from "../../sketch-format.js";
import type { Combination, EngineFilter } from "../../sketch-operations.js";
import type { CpuEngine } from "../cpu-engine.js";
import { Outputs } from "../memory/outputs.js";
import { CpuSketch } from "./cpu-sketch.js";

export class CpuFilter<K extends BasicType> extends CpuSketch<K> implements EngineFilter<K> {
  constructor(
    engine: CpuEngine,
    key: K,
    private readonly blocks: number,
    isZeroed: boolean,
  ) {
    super(engine, key, engine.buffers.allocate(blocks * BLOCK_BYTES, isZeroed));
  }

  /**
   * Keys are sorted by ranges of blocks; then each range has one owner, who sets bits within the reach of its cache.
   */
  add(keys: ColumnInput<K>, call: CallOptions): Promise<void> {
    const bits = asBits(this.contents);
    const { blocks } = this;
    const shift = shiftFor(blocks, this.engine.tuning.ranges);
    const ranges = ((blocks - 1) >>> shift) + 1;
    return this.eachChunk(keys, call, async ({ keys, where, count, grain, scratch, run }) => {
      const pieces = Math.ceil(count / grain);
      const homes = scratch.words("homes", count);
      const patterns = scratch.words("patterns", count);
      const starts = scratch.words("starts", pieces * (ranges + 1));
      const sorted = { blocks, shift, ranges, homes, patterns, starts };
      await run({ kind: "sort keys", keys, where, count, grain, sorted });
      await run({ kind: "filter add", bits, sorted, pieces });
    });
  }

  async contains(keys: ColumnInput<K>, output: Destination, call: CallOptions): Promise<ColumnOutput<"u8">> {
    const bits = asBits(this.contents);
    const { blocks } = this;
    const outputs = new Outputs(this.engine, output);
    const result = outputs.make("u8", keys.length);
    const array = result.array as Uint8Array;
    await outputs.keepUnlessThrown(() =>
      this.eachChunk(keys, call, async ({ from, count, scratch, run, memory, ...chunk }) => {
        const part = array.subarray(from, from + count);
        const found = memory.reaches(part) ? part : scratch.bytes("found", count);
        const { keys, where, grain } = chunk;
        await run({ kind: "filter contains", keys, where, count, grain, bits, blocks, found });
        if (found !== part) part.set(found);
      }),
    );
    return result.output as ColumnOutput<"u8">;
  }

  async copy(): Promise<CpuFilter<K>> {
    const copy = new CpuFilter(this.engine, this.key, this.blocks, false);
    await copy.write(this.contents);
    return copy;
  }

  protected take(own: Uint8Array, other: Uint8Array, how: Combination): void {
    const [a, b] = [asBits(own), asBits(other)];
    if (how === "union") for (let i = 0; i < a.length; i++) a[i] |= b[i];
    else for (let i = 0; i < a.length; i++) a[i] &= b[i];
  }
}

/** By how much block numbers are shifted right so that there are `most` ranges at most, of 2 or more. */
function shiftFor(blocks: number, most: number): number {
  let shift = 0;
  while ((blocks - 1) >>> shift >= most) shift++;
  return shift;
}
