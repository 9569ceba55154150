/**
 * A Bloom filter on the GPU. Keys are added to a filter larger than the GPU's cache in the order of its blocks, by the
 * multisplit of tables: atomics in memory are some five times slower than in the cache, and bringing keys into order
 * costs less than that.
 */
import type { CallOptions, ColumnInput, ColumnOutput, Destination, Input } from "../../engine.js";
import type { TableSpec } from "../../layout.js";
import { type BasicType, scalarWords } from "../../scalars.js";
import { BLOCK_BYTES } from "../../sketch-format.js";
import type { Combination, EngineFilter } from "../../sketch-operations.js";
import { eachChunk } from "../batch/batches.js";
import type { BoundChunk } from "../batch/bound-chunk.js";
import { bindAt, type Column } from "../batch/columns.js";
import { resultColumns } from "../batch/results.js";
import type { GpuHost } from "../host.js";
import { readBytes } from "../memory/read-bytes.js";
import { type Choice, SMALL } from "../planner.js";
import type { GpuBuffer } from "../runtime.js";
import { GpuSketch, sketchBuffer } from "./gpu-sketch.js";
import {
  FILTER_TILE,
  FILTER_WORKGROUP,
  filterAdd,
  filterContains,
  HOW,
  keyConstants,
} from "./sketch-kernels.js";

/** Filters up to this size stay in a large GPU's cache: 50 MB on an H100. */
const CACHED_FILTER_BYTES = 2 ** 25;
/** Keys below which sorting them does not pay. */
const LEAST_SORTED = 2 ** 20;

const DIRECT = {
  strategy: "direct",
  reason: "look-ups in a filter read one sector a key in any order",
} as const;

export class GpuFilter<K extends BasicType> extends GpuSketch<K> implements EngineFilter<K> {
  private constructor(host: GpuHost, spec: TableSpec & { readonly key: K }, buffer: GpuBuffer) {
    super(host, spec, buffer, spec.slots * BLOCK_BYTES);
  }

  /** Makes a filter with `contents`, or those of another one, or none. */
  static async create<K extends BasicType>(
    host: GpuHost,
    key: K,
    blocks: number,
    contents?: Uint8Array | GpuFilter<K>,
  ): Promise<GpuFilter<K>> {
    const buffer = await sketchBuffer(host, blocks * BLOCK_BYTES);
    // blocks are numbered as the home slots of a set are, for the multisplit
    const filter = new GpuFilter(host, { key, value: null, slots: blocks, hash: "murmur3" }, buffer);
    try {
      if (contents === undefined) await filter.clear();
      else if (contents instanceof GpuFilter) await filter.copyFrom(contents.buffer);
      else await host.gpu.upload(buffer, 0, contents);
      return filter;
    } catch (error) {
      filter.destroy();
      throw error;
    }
  }

  get bytes(): number {
    return this.bufferBytes;
  }

  copy(): Promise<GpuFilter<K>> {
    const { host, spec } = this;
    return GpuFilter.create(host, spec.key, spec.slots, this);
  }

  async add(keys: ColumnInput<K>, call: CallOptions): Promise<void> {
    const batch = { keys: keys as Input<K>, plan: async (count: number) => this.#planAdd(count, call) };
    await eachChunk(this, "filter add", batch, call, "device", async (chunk, choice) => {
      const sorted = choice.strategy === "direct" ? null : await this.#sorted(chunk, choice);
      if (sorted === null) {
        const reason = choice.strategy === "direct" ? choice.reason : "there is too little memory";
        chunk.log?.correctChunk({ strategy: "direct", reason, partitions: 1 });
      }
      await this.#addChunk(sorted ?? chunk);
    });
  }

  async contains(keys: ColumnInput<K>, output: Destination, call: CallOptions): Promise<ColumnOutput<"u8">> {
    const results = await resultColumns(this.host, keys.length, output, ["u8", null]);
    const [flags] = results.columns;
    const batch = { keys: keys as Input<K>, plan: async () => DIRECT };
    await results.keepUnlessThrown(() =>
      eachChunk(this, "filter contains", batch, call, output, async (chunk, _, readBack) => {
        chunk.log?.correctChunk(DIRECT);
        const { column: to, readback } = await flags.bind(chunk.scratch, chunk);
        const reads = readback(chunk);
        const kernel = await this.host.gpu.compile(filterContains, this.#constantsOf(chunk));
        const bindings = {
          keys: chunk.keys.range,
          mask: chunk.mask?.range,
          halves: this.range,
          flags: to.range,
        };
        const params = { ...this.#paramsOf(chunk), flagShift: to.shift };
        await readBack(reads, (now) =>
          this.submit("filter contains", now, (recorder) =>
            recorder.dispatch(kernel, bindings, params, tilesOf(chunk)),
          ),
        );
      }),
    );
    return flags.output;
  }

  read(into: Uint8Array): Promise<void> {
    return readBytes(this.host.gpu, "read filter", { buffer: this.buffer, offset: 0, into });
  }

  protected howOf(combination: Combination): number {
    return combination === "union" ? HOW.or : HOW.and;
  }

  #planAdd(count: number, { strategy = "auto" }: CallOptions): Choice {
    const partitions = (reason: string): Choice => ({ strategy: "partitions", reason });
    const direct = (reason: string): Choice => ({ strategy: "direct", reason });
    if (strategy === "direct") return direct("it was asked for");
    if (scalarWords[this.spec.key] > 1) return direct("keys wider than 32 bits are worked on where they lie");
    if (!this.host.partitioning) return direct("this engine takes keys as they come");
    if (strategy === "partitioned") return partitions("it was asked for");
    if (this.host.gpu.traits.isEmulated) return direct("a software GPU gains nothing from locality");
    if (this.bufferBytes <= CACHED_FILTER_BYTES) return direct("the filter fits the cache");
    return count < LEAST_SORTED ? direct(SMALL) : partitions("the filter is larger than the cache");
  }

  /** The chunk's keys in the order of partitions of the filter; null where there is too little memory for that. */
  async #sorted(chunk: BoundChunk, { reason }: Choice): Promise<SortedKeys | null> {
    const partitioning = await this.host.partitioning?.();
    if (!partitioning) return null;
    const { splitByPartition, FEW_PARTITIONS } = partitioning;
    const blocks = this.spec.slots;
    const shift = Math.max(0, Math.ceil(Math.log2(blocks / FEW_PARTITIONS)));
    const partitions = { shift, count: Math.ceil(blocks / 2 ** shift) };
    const how = { kind: "key", put: "columns" } as const;
    const items = await chunk.scratch.attempt(() => splitByPartition(this, chunk, partitions, how));
    if (items === null) return null;
    chunk.log?.correctChunk({ strategy: "partitioned", reason, partitions: partitions.count });
    const { selected: count } = items;
    return { count, keys: bindAt(items.keys.buffer, 0, count * 4), mask: undefined };
  }

  async #addChunk(chunk: SortedKeys): Promise<void> {
    if (chunk.count === 0) return;
    const kernel = await this.host.gpu.compile(filterAdd, this.#constantsOf(chunk));
    const bindings = { keys: chunk.keys.range, mask: chunk.mask?.range, bits: this.range };
    const params = this.#paramsOf(chunk);
    await this.submit("filter add", [], (recorder) =>
      recorder.dispatch(kernel, bindings, params, tilesOf(chunk)),
    );
  }

  #constantsOf({ mask }: SortedKeys) {
    return { ...keyConstants(this.spec.key), WORKGROUP: FILTER_WORKGROUP, MASKED: mask !== undefined };
  }

  #paramsOf({ count, keys, mask }: SortedKeys) {
    return { count, keyShift: keys.shift, maskShift: mask?.shift, blocks: this.spec.slots };
  }
}

/** Keys as the kernels see them. */
interface SortedKeys {
  readonly count: number;
  readonly keys: Column;
  readonly mask: Column | undefined;
}

function tilesOf({ count }: SortedKeys): number {
  return Math.ceil(count / FILTER_TILE);
}
