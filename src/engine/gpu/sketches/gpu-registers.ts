/** The registers of a HyperLogLog on the GPU: a word each, since atomics have 32 bits. */
import type { CallOptions, ColumnInput, Input } from "../../engine.js";
import type { TableSpec } from "../../layout.js";
import { asBytes, type BasicType } from "../../scalars.js";
import type { EngineRegisters } from "../../sketch-operations.js";
import { eachChunk } from "../batch/batches.js";
import type { GpuHost } from "../host.js";
import { readBytes } from "../memory/read-bytes.js";
import type { GpuBuffer } from "../runtime.js";
import { GpuSketch, sketchBuffer } from "./gpu-sketch.js";
import { HOW, keyConstants, REGISTER_ITEMS, registersAdd } from "./sketch-kernels.js";

/** Invocations of a dispatch at most, which stride over the chunk: as many as an H100 runs at once (132 × 2,048). */
const MOST_INVOCATIONS = 270_336;
/** Invocations of a workgroup at most: the more, the fewer registers of workgroups are merged. */
const MOST_WORKGROUP = 1024;
/** A software GPU takes longer for the barriers of large workgroups. */
const SOFTWARE_WORKGROUP = 128;

const DIRECT = { strategy: "direct", reason: "keys are read once, in order" } as const;

export class GpuRegisters<K extends BasicType> extends GpuSketch<K> implements EngineRegisters<K> {
  private constructor(
    host: GpuHost,
    spec: TableSpec & { readonly key: K },
    buffer: GpuBuffer,
    private readonly precision: number,
  ) {
    super(host, spec, buffer, 4 * 2 ** precision);
  }

  /** Makes registers with `contents`, a byte a register, or those of others, or 0. */
  static async create<K extends BasicType>(
    host: GpuHost,
    key: K,
    precision: number,
    contents?: Uint8Array | GpuRegisters<K>,
  ): Promise<GpuRegisters<K>> {
    const slots = 2 ** precision;
    const buffer = await sketchBuffer(host, 4 * slots);
    const registers = new GpuRegisters(host, { key, value: null, slots, hash: "murmur3" }, buffer, precision);
    try {
      if (contents === undefined) await registers.clear();
      else if (contents instanceof GpuRegisters) await registers.copyFrom(contents.buffer);
      else await host.gpu.upload(buffer, 0, asBytes(Uint32Array.from(contents)));
      return registers;
    } catch (error) {
      registers.destroy();
      throw error;
    }
  }

  get bytes(): number {
    return this.spec.slots;
  }

  copy(): Promise<GpuRegisters<K>> {
    const { host, spec, precision } = this;
    return GpuRegisters.create(host, spec.key, precision, this);
  }

  async add(keys: ColumnInput<K>, call: CallOptions): Promise<void> {
    const { gpu } = this.host;
    const { maxInvocations, maxWorkgroupBytes, maxDynamicBytes, isEmulated } = gpu.traits;
    const most = isEmulated ? SOFTWARE_WORKGROUP : MOST_WORKGROUP;
    const workgroup = Math.min(most, maxInvocations);
    const constants = {
      ...keyConstants(this.spec.key),
      WORKGROUP: workgroup,
      PRECISION: this.precision,
      // kernels with memory that launches ask for have a word of it for each register, others a byte
      LOCAL: maxDynamicBytes ? this.bufferBytes <= maxDynamicBytes : this.bytes <= maxWorkgroupBytes,
    };
    const batch = { keys: keys as Input<K>, plan: async () => DIRECT };
    await eachChunk(this, "registers add", batch, call, "device", async (chunk) => {
      chunk.log?.correctChunk(DIRECT);
      const { count, keys, mask } = chunk;
      const kernel = await gpu.compile(registersAdd, { ...constants, MASKED: mask !== undefined });
      const bindings = { keys: keys.range, mask: mask?.range, registers: this.range };
      const params = { count, keyShift: keys.shift, maskShift: mask?.shift };
      const wanted = Math.ceil(count / (workgroup * REGISTER_ITEMS));
      const workgroups = Math.min(Math.ceil(MOST_INVOCATIONS / workgroup), wanted);
      await this.submit("registers add", [], (recorder) =>
        recorder.dispatch(kernel, bindings, params, workgroups),
      );
    });
  }

  async read(into: Uint8Array): Promise<void> {
    const words = new Uint32Array(this.bytes);
    await readBytes(this.host.gpu, "read registers", {
      buffer: this.buffer,
      offset: 0,
      into: asBytes(words),
    });
    into.set(words);
  }

  protected howOf(): number {
    return HOW.max;
  }
}
