/**
 * Kernels: compiled from their sources (kernel-source.ts), once per device and text. A kernel takes one bind group; its
 * uniform is one slot of a ring, picked by a dynamic offset.
 */
import { EngineError } from "../../../errors.js";
import { getOrMake } from "../../gpu/get-or-make.js";
import { type Binding, bindingsOf, type Constants, type KernelSource } from "../../gpu/kernel-source.js";
import {
  type Bindings,
  type Kernel,
  MAX_WORKGROUPS,
  type ParamLayers,
  paramOf,
  type Range,
} from "../../gpu/runtime.js";
import { BufferUsage, STAGE_COMPUTE } from "./gpu-flags.js";
import { moduleCode } from "./module-code.js";
import { native } from "./recorder.js";
import type { KernelTexts } from "./texts.js";
import type { WebgpuRuntime } from "./webgpu-runtime.js";

type Ranges = readonly (Range | undefined)[];

/** Bind groups that a kernel keeps. */
const KEPT_GROUPS = 4;

const UNIFORM_SLOT = 256;
/** Uniforms of one submission, at most: of all windows of a table, several dispatches each. */
const UNIFORM_SLOTS = 2304;
/** Range bound where a kernel has a binding that this specialisation does not use. */
const UNUSED_BYTES = 256;

export class Kernels {
  readonly #gpu: WebgpuRuntime;
  readonly #texts: KernelTexts;
  /** Kernels, and those that are being compiled, by the module's text. */
  readonly #compiled = new Map<string, Promise<WebgpuKernel>>();
  /** The same by source and constants: making a module's text takes longer than looking its kernel up. */
  readonly #known = new WeakMap<KernelSource, Map<string, WebgpuKernel>>();
  readonly #layouts = new Map<string, GPUBindGroupLayout>();
  readonly #uniforms: GPUBuffer;
  readonly #unusedRead: GPUBuffer;
  readonly #unusedStorage: GPUBuffer;
  /**
   * The ring as it is to be; slots from #unwritten up to #nextUniform are not on the GPU yet: writing many at once is
   * cheap.
   */
  readonly #ring = new Uint32Array((UNIFORM_SLOT * UNIFORM_SLOTS) / 4);
  #unwritten = 0;
  /** Time during which kernels were compiled. */
  compilingMs = 0;
  /** Kernels that are being compiled, and since when there were any. */
  #compiling = 0;
  #compilingSince = 0;
  #nextUniform = 0;
  /** Uniforms that are set for the submission that is recorded. */
  #recorded = 0;

  private constructor(
    gpu: WebgpuRuntime,
    texts: KernelTexts,
    uniforms: GPUBuffer,
    unusedRead: GPUBuffer,
    unusedStorage: GPUBuffer,
  ) {
    this.#gpu = gpu;
    this.#texts = texts;
    this.#uniforms = uniforms;
    this.#unusedRead = unusedRead;
    this.#unusedStorage = unusedStorage;
  }

  static async open(gpu: WebgpuRuntime, texts: KernelTexts): Promise<Kernels> {
    const { UNIFORM, COPY_DST, STORAGE } = BufferUsage;
    const [uniforms, unusedRead, unusedStorage] = await Promise.all([
      gpu.memory.allocate("params", UNIFORM_SLOT * UNIFORM_SLOTS, UNIFORM | COPY_DST),
      gpu.memory.allocate("unused", UNUSED_BYTES, STORAGE),
      // one range per binding number: writable bindings may not overlap
      gpu.memory.allocate("unused", UNUSED_BYTES * 16, STORAGE),
    ]);
    return new Kernels(gpu, texts, native(uniforms), native(unusedRead), native(unusedStorage));
  }

  /**
   * The compiled kernel; the first call for a text compiles it.
   * @param constants a value for each constant of the source; others are passed over.
   */
  async compile<P extends string, B extends string, C extends string>(
    source: KernelSource<P, B, C>,
    constants: Constants<C>,
  ): Promise<WebgpuKernel<P, B>> {
    const known = getOrMake(this.#known, source, () => new Map<string, WebgpuKernel>());
    const values = JSON.stringify(constants);
    const kernel = known.get(values) ?? (await this.#compiledOf(source, constants));
    known.set(values, kernel);
    return kernel as WebgpuKernel<P, B>;
  }

  async #compiledOf(source: KernelSource, constants: Constants): Promise<WebgpuKernel> {
    await this.#texts.load(source);
    const code = moduleCode(source, constants, this.#texts.of);
    const compiled = getOrMake(this.#compiled, code, () => this.#compile(source, code));
    compiled.catch(() => this.#compiled.delete(code));
    return this.#gpu.guard(compiled);
  }

  async #compile(source: KernelSource, code: string): Promise<WebgpuKernel> {
    if (this.#compiling++ === 0) this.#compilingSince = performance.now();
    const { device } = this.#gpu;
    const { label, params } = source;
    const bindings = [...bindingsOf(source)];
    const hasUniform = params.length > 0;
    const accesses = bindings.map(([, { access }]) => access);
    const layout = this.#layout(accesses, hasUniform);
    try {
      const module = device.createShaderModule({ label, code });
      const pipeline = await device.createComputePipelineAsync({
        label,
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: "main" },
      });
      const names = bindings.map(([name]) => name);
      const make = (ranges: Ranges) => this.#bind(layout, accesses, hasUniform, ranges);
      return new WebgpuKernel(source, names, pipeline, make, this.#setUniform);
    } catch (error) {
      throw new EngineError(`The kernel ${label} does not compile: ${(error as Error).message}`, {
        cause: error,
      });
    } finally {
      if (--this.#compiling === 0) this.compilingMs += performance.now() - this.#compilingSince;
    }
  }

  #layout(accesses: readonly Binding["access"][], hasUniform: boolean): GPUBindGroupLayout {
    return getOrMake(this.#layouts, `${hasUniform} ${accesses.join()}`, () => {
      const storage = accesses.map((access) => ({
        type: access === "read" ? ("read-only-storage" as const) : ("storage" as const),
      }));
      const uniform = { type: "uniform" as const, hasDynamicOffset: true };
      const buffers = hasUniform ? [uniform, ...storage] : storage;
      return this.#gpu.device.createBindGroupLayout({
        entries: buffers.map((buffer, binding) => ({ binding, visibility: STAGE_COMPUTE, buffer })),
      });
    });
  }

  #bind(
    layout: GPUBindGroupLayout,
    accesses: readonly Binding["access"][],
    hasUniform: boolean,
    ranges: Ranges,
  ): GPUBindGroup {
    const storage = accesses.map((access, i) => bindingOf(ranges[i]) ?? this.#unused(access, i));
    const uniform = { buffer: this.#uniforms, size: UNIFORM_SLOT };
    const resources = hasUniform ? [uniform, ...storage] : storage;
    const entries = resources.map((resource, binding) => ({ binding, resource }));
    return this.#gpu.device.createBindGroup({ layout, entries });
  }

  #unused(access: Binding["access"], number: number): GPUBufferBinding {
    if (access === "read") return { buffer: this.#unusedRead };
    return { buffer: this.#unusedStorage, offset: number * UNUSED_BYTES, size: UNUSED_BYTES };
  }

  /** Puts a uniform into the ring's next slot and answers its offset. Work submitted before still sees its own. */
  readonly #setUniform = (words: Uint32Array<ArrayBuffer>): number => {
    if (++this.#recorded > UNIFORM_SLOTS) {
      throw new EngineError("Too many dispatches.");
    }
    if (this.#nextUniform === UNIFORM_SLOTS) this.#writeUniforms();
    const offset = this.#nextUniform++ * UNIFORM_SLOT;
    this.#ring.set(words, offset / 4);
    return offset;
  };

  /** To be called when a submission's commands were recorded, before it is submitted; also when recording failed. */
  writeUniforms(): void {
    this.#writeUniforms();
    this.#recorded = 0;
  }

  /** Writes the slots that were set. At the ring's end the next slot is the first one again. */
  #writeUniforms(): void {
    const first = this.#unwritten * UNIFORM_SLOT;
    const end = this.#nextUniform * UNIFORM_SLOT;
    if (this.#nextUniform === UNIFORM_SLOTS) this.#nextUniform = 0;
    this.#unwritten = this.#nextUniform;
    if (end > first)
      this.#gpu.device.queue.writeBuffer(this.#uniforms, first, this.#ring, first / 4, (end - first) / 4);
  }
}

export class WebgpuKernel<P extends string = string, B extends string = string> implements Kernel<P, B> {
  /** The bind groups used last: calls come with the same buffers again and again, and making a group takes 30 µs. */
  readonly #bound: { ranges: Ranges; group: GPUBindGroup }[] = [];

  constructor(
    readonly source: KernelSource<P, B>,
    private readonly names: readonly string[],
    private readonly pipeline: GPUComputePipeline,
    private readonly makeGroup: (ranges: Ranges) => GPUBindGroup,
    private readonly setUniform: (words: Uint32Array<ArrayBuffer>) => number,
  ) {}

  encode(
    pass: GPUComputePassEncoder,
    bindings: Bindings<B>,
    params: ParamLayers<P>,
    workgroups: number | readonly [number, number],
  ): void {
    const fields = this.source.params;
    const words = Uint32Array.from(fields, (name) => paramOf(params, name));
    const [x, y] = typeof workgroups === "number" ? gridOf(workgroups) : workgroups;
    pass.setPipeline(this.pipeline);
    pass.setBindGroup(0, this.#group(bindings), fields.length > 0 ? [this.setUniform(words)] : []);
    pass.dispatchWorkgroups(x, y);
    pass.end();
  }

  #group(bindings: Bindings<B>): GPUBindGroup {
    const ranges = this.names.map((name) => bindings[name as B]);
    const bound = this.#bound;
    const at = bound.findIndex((entry) => entry.ranges.every((range, i) => sameRange(range, ranges[i])));
    const [entry = { ranges, group: this.makeGroup(ranges) }] = at < 0 ? [] : bound.splice(at, 1);
    bound.unshift(entry);
    bound.length = Math.min(bound.length, KEPT_GROUPS);
    return entry.group;
  }
}

const bindingOf = (range: Range | undefined) => range as GPUBufferBinding | undefined;

/** A grid of at least so many workgroups. */
function gridOf(workgroups: number): readonly [number, number] {
  const rows = Math.ceil(workgroups / MAX_WORKGROUPS);
  return [Math.ceil(workgroups / rows), rows];
}

function sameRange(a: Range | undefined, b: Range | undefined): boolean {
  return a?.buffer === b?.buffer && a?.offset === b?.offset && a?.size === b?.size;
}
