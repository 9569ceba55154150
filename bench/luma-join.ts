/**
 * The join of @luma.gl/gpgpu, for the benchmark join: an index of the right keys is built and probed by the left ones, both on the GPU,
 * to pairs of row numbers there. It takes u32 keys, different on the right, and room for the result that the caller gives. Not in pages.
 */
import type { Buffer, Device as LumaDevice } from "@luma.gl/core";
import type { GPUCommandGraph, GraphDataView } from "@luma.gl/gpgpu/gpu-core";
import { dawn } from "../src/engine/webgpu/device/dawn.js";
import { STORAGE_USAGE } from "../src/engine/webgpu/device/gpu-flags.js";
import { type Device, EngineError } from "../src/index.js";
import { installed } from "./flight-files.js";
import type { TimedCall } from "./timing.js";

/** Of a power of two of slots, as full as the library's own tables at most are by default. */
const MOST_LOAD = 0.5;

export interface LumaJoin extends TimedCall {
  destroy(): void;
}

/**
 * Ready to be timed, its answer checked: every row of the left with its one partner. Null where luma.gl is not installed.
 * @throws EngineError for another answer
 */
export async function lumaJoin(
  device: Device,
  left: Uint32Array,
  right: Uint32Array,
): Promise<LumaJoin | null> {
  const adapter = await installed<typeof import("@luma.gl/webgpu")>("@luma.gl/webgpu");
  const gpgpu = await installed<typeof import("@luma.gl/gpgpu/gpu-core")>("@luma.gl/gpgpu/gpu-core");
  if (adapter === null || gpgpu === null) return null;
  const luma = await openLuma(adapter.webgpuAdapter, device.info.software);
  try {
    const join = new Join(luma, gpgpu, left, right);
    await join.run();
    await join.check();
    return { call: () => join.run(), destroy: () => luma.destroy() };
  } catch (error) {
    luma.destroy();
    throw error;
  }
}

/** luma.gl looks for WebGPU where pages have it. */
async function openLuma(
  adapter: typeof import("@luma.gl/webgpu")["webgpuAdapter"],
  software: boolean,
): Promise<LumaDevice> {
  const gpu = await dawn(software);
  if ("reason" in gpu) throw new EngineError(`join: luma.gl has no WebGPU: ${gpu.reason}.`);
  const { globals } = (await installed<typeof import("webgpu")>("webgpu")) as typeof import("webgpu");
  Object.assign(globalThis, globals);
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { gpu, userAgent: "node" }, configurable: true });
  try {
    return await adapter.create({ id: "luma", featureLevel: "max" });
  } finally {
    if (before) Object.defineProperty(globalThis, "navigator", before);
    else Reflect.deleteProperty(globalThis, "navigator");
  }
}

type Gpgpu = typeof import("@luma.gl/gpgpu/gpu-core");

class Join {
  readonly #buffers: Record<string, Buffer> = {};
  readonly #compiled: ReturnType<GPUCommandGraph["compile"]>;

  constructor(
    private readonly luma: LumaDevice,
    { GPUCommandGraph, GPUHashIndex, GPUHashJoin, ...lengths }: Gpgpu,
    private readonly left: Uint32Array,
    private readonly right: Uint32Array,
  ) {
    const graph = new GPUCommandGraph(luma, { id: "join" });
    const column = (id: string, length: number, data?: Uint32Array) => this.#column(graph, id, length, data);
    const capacity = 2 ** Math.ceil(Math.log2(right.length / MOST_LOAD));
    // it counts all probes in one u32
    const maxProbeCount = Math.min(capacity, Math.floor(0xffffffff / Math.max(left.length, right.length)));
    const index = new GPUHashIndex({
      maxProbeCount,
      keys: column("right", right.length, right),
      tableKeys: column("tableKeys", capacity),
      tableValues: column("tableValues", capacity),
      statistics: column("built", lengths.GPU_HASH_INDEX_STATISTICS_LENGTH),
    });
    index.addToGraph(graph);
    new GPUHashJoin({
      index,
      keys: column("left", left.length, left),
      outputLeftRows: column("leftRows", left.length),
      outputRightRows: column("rightRows", left.length),
      count: column("count", 1),
      overflow: column("overflow", 1),
      statistics: column("probed", lengths.GPU_HASH_QUERY_STATISTICS_LENGTH),
    }).addToGraph(graph);
    this.#compiled = graph.compile();
  }

  /** Until the pairs are there. */
  async run(): Promise<void> {
    const encoder = this.luma.createCommandEncoder();
    this.#compiled.encode(encoder, { parameters: undefined });
    this.luma.submit(encoder.finish());
    await (this.luma.handle as GPUDevice).queue.onSubmittedWorkDone();
  }

  async check(): Promise<void> {
    const [[count], [overflow], leftRows, rightRows] = await Promise.all(
      ["count", "overflow", "leftRows", "rightRows"].map((id) => this.#read(id)),
    );
    const isRight = (row: number, i: number) => row === i && this.left[row] === this.right[rightRows[i]];
    if (count !== this.left.length || overflow !== 0 || !leftRows.every(isRight)) {
      throw new EngineError(`join: luma.gl found ${count} pairs, or wrong ones, of ${this.left.length}.`);
    }
  }

  #column(graph: GPUCommandGraph, id: string, length: number, data?: Uint32Array): GraphDataView<"uint32"> {
    const byteLength = 4 * length;
    this.#buffers[id] = this.luma.createBuffer({
      id,
      byteLength,
      usage: STORAGE_USAGE,
      ...(data && { data }),
    });
    const handle = graph.importBuffer({ id, byteLength, usage: STORAGE_USAGE }, this.#buffers[id]);
    return graph.createDataView(handle, { format: "uint32", length });
  }

  async #read(id: string): Promise<Uint32Array> {
    const { buffer, byteOffset, byteLength } = await this.#buffers[id].readAsync();
    return new Uint32Array(buffer, byteOffset, byteLength / 4);
  }
}
