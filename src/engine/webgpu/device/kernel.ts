/**
 * Kernels: WGSL fragments put together, specialised by override constants, compiled once per device and combination.
 * A kernel takes one bind group; its uniform is one slot of a ring, picked by a dynamic offset.
 */
import { EngineError } from "../../../errors.js";
import type { Gpu } from "./gpu.js";
import { BufferUsage, STAGE_COMPUTE } from "./gpu-flags.js";

/** How a binding is used: a uniform from the ring, storage that kernels write, or storage they only read. */
export type BindingKind = "uniform" | "storage" | "read";

/** A kernel before specialisation. */
export interface KernelSource {
  readonly label: string;
  /** The fragments that make up the module. WGSL declarations may come in any order. */
  readonly code: readonly string[];
  /** Kind by binding number. */
  readonly bindings: readonly BindingKind[];
}

/** Values of override constants; booleans are 0 and 1. */
export type Constants = Readonly<Record<string, number>>;

/** A range of a buffer for a binding. `undefined` binds memory that the kernel does not use. */
export interface Range {
  buffer: GPUBuffer;
  /** Bytes, a multiple of 256. */
  offset?: number;
  /** Bytes; the rest of the buffer unless told. */
  size?: number;
}

interface Compiled {
  layout: GPUBindGroupLayout;
  /** The bind groups used last: calls come with the same buffers again and again, and making a group takes 30 µs. */
  bound: { ranges: Ranges; group: GPUBindGroup }[];
}

/** Ranges by binding number. */
type Ranges = readonly (Range | undefined)[];

/** Bind groups that a kernel keeps. */
const KEPT_GROUPS = 4;

const UNIFORM_SLOT = 256;
/** Uniforms of one submission, at most: of all windows of a table, several dispatches each. */
const UNIFORM_SLOTS = 2304;
/** Range bound where a kernel has a binding that this specialisation does not use. */
const UNUSED_BYTES = 256;

export class Kernels {
  readonly #gpu: Gpu;
  /** Kernels, and those that are being compiled. */
  readonly #compiled = new Map<string, Kernel | Promise<Kernel>>();
  readonly #layouts = new Map<string, GPUBindGroupLayout>();
  readonly #uniforms: GPUBuffer;
  readonly #unusedRead: GPUBuffer;
  readonly #unusedStorage: GPUBuffer;
  /** The ring as it is to be; slots from #unwritten up to #nextUniform are not on the GPU yet: writing many at once is cheap. */
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

  private constructor(gpu: Gpu, uniforms: GPUBuffer, unusedRead: GPUBuffer, unusedStorage: GPUBuffer) {
    this.#gpu = gpu;
    this.#uniforms = uniforms;
    this.#unusedRead = unusedRead;
    this.#unusedStorage = unusedStorage;
  }

  static async open(gpu: Gpu): Promise<Kernels> {
    const { UNIFORM, COPY_DST, STORAGE } = BufferUsage;
    const [uniforms, unusedRead, unusedStorage] = await Promise.all([
      gpu.allocate("params", UNIFORM_SLOT * UNIFORM_SLOTS, UNIFORM | COPY_DST),
      gpu.allocate("unused", UNUSED_BYTES, STORAGE),
      // one range per binding number: writable bindings may not overlap
      gpu.allocate("unused", UNUSED_BYTES * 16, STORAGE),
    ]);
    const kernels = new Kernels(gpu, uniforms, unusedRead, unusedStorage);
    gpu.beforeSubmit = () => {
      kernels.#writeUniforms();
      kernels.#recorded = 0;
    };
    return kernels;
  }

  /** The compiled kernel; the first call for a combination compiles it. */
  async compile(source: KernelSource, constants: Constants): Promise<Kernel> {
    const key = `${source.label} ${JSON.stringify(constants)}`;
    const known = this.#compiled.get(key);
    if (known instanceof Kernel) return known;
    const compiled = known ?? this.#compile(source, constants);
    this.#compiled.set(key, compiled);
    compiled.then(
      (kernel) => this.#compiled.set(key, kernel),
      () => this.#compiled.delete(key),
    );
    return this.#gpu.guard(compiled);
  }

  async #compile(source: KernelSource, constants: Constants): Promise<Kernel> {
    if (this.#compiling++ === 0) this.#compilingSince = performance.now();
    const { device } = this.#gpu;
    const layout = this.#layout(source.bindings);
    try {
      const module = device.createShaderModule({ label: source.label, code: source.code.join("\n") });
      const pipeline = await device.createComputePipelineAsync({
        label: source.label,
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: "main", constants },
      });
      const compiled: Compiled = { layout, bound: [] };
      return new Kernel(source, pipeline, (ranges) => this.#bind(source, compiled, ranges), this.#setUniform);
    } catch (error) {
      throw new EngineError(`The kernel ${source.label} does not compile: ${(error as Error).message}`, {
        cause: error,
      });
    } finally {
      if (--this.#compiling === 0) this.compilingMs += performance.now() - this.#compilingSince;
    }
  }

  #layout(bindings: readonly BindingKind[]): GPUBindGroupLayout {
    const key = bindings.join();
    let layout = this.#layouts.get(key);
    if (!layout) {
      layout = this.#gpu.device.createBindGroupLayout({
        entries: bindings.map((kind, binding) => ({
          binding,
          visibility: STAGE_COMPUTE,
          buffer:
            kind === "uniform"
              ? { type: "uniform", hasDynamicOffset: true }
              : { type: kind === "read" ? "read-only-storage" : "storage" },
        })),
      });
      this.#layouts.set(key, layout);
    }
    return layout;
  }

  #bind(source: KernelSource, { layout, bound }: Compiled, ranges: Ranges): GPUBindGroup {
    const at = bound.findIndex((entry) => sameRanges(entry.ranges, ranges));
    if (at >= 0) {
      bound.unshift(...bound.splice(at, 1));
      return bound[0].group;
    }
    const group = this.#gpu.device.createBindGroup({
      layout,
      entries: source.bindings.map((kind, binding) => ({
        binding,
        resource: this.#resource(kind, binding, ranges[binding]),
      })),
    });
    bound.unshift({ ranges, group });
    bound.length = Math.min(bound.length, KEPT_GROUPS);
    return group;
  }

  #resource(kind: BindingKind, binding: number, range: Range | undefined): GPUBufferBinding {
    if (kind === "uniform") return { buffer: this.#uniforms, size: UNIFORM_SLOT };
    if (range) return range;
    if (kind === "read") return { buffer: this.#unusedRead };
    return { buffer: this.#unusedStorage, offset: binding * UNUSED_BYTES, size: UNUSED_BYTES };
  }

  /** Puts a uniform into the ring's next slot and answers its offset. Work submitted before still sees its own. */
  readonly #setUniform = (words: Uint32Array<ArrayBuffer>): number => {
    if (++this.#recorded > UNIFORM_SLOTS) {
      throw new EngineError(`More than ${UNIFORM_SLOTS} dispatches were recorded for one submission.`);
    }
    if (this.#nextUniform === UNIFORM_SLOTS) this.#writeUniforms();
    const offset = this.#nextUniform++ * UNIFORM_SLOT;
    this.#ring.set(words, offset / 4);
    return offset;
  };

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

/** A compiled kernel, ready to be recorded. */
export class Kernel {
  constructor(
    private readonly source: KernelSource,
    private readonly pipeline: GPUComputePipeline,
    private readonly bind: (ranges: Ranges) => GPUBindGroup,
    private readonly setUniform: (words: Uint32Array<ArrayBuffer>) => number,
  ) {}

  /**
   * Records one dispatch.
   * @param ranges by binding number.
   * @param uniform words of the uniform, for kernels that have one.
   * @param workgroups any number up to 65,535²; laid out as a grid that covers at least that many.
   */
  record(
    encoder: GPUCommandEncoder,
    ranges: Ranges,
    uniform: Uint32Array<ArrayBuffer> | null,
    workgroups: number,
  ): void {
    const rows = Math.ceil(workgroups / MAX_WORKGROUPS);
    this.recordGrid(encoder, ranges, uniform, [Math.ceil(workgroups / rows), rows]);
  }

  /** As `record`, with the grid as given: workgroups in x and y, at most 65,535 each. */
  recordGrid(
    encoder: GPUCommandEncoder,
    ranges: Ranges,
    uniform: Uint32Array<ArrayBuffer> | null,
    [x, y]: readonly [number, number],
  ): void {
    const pass = encoder.beginComputePass({ label: this.source.label });
    pass.setPipeline(this.pipeline);
    pass.setBindGroup(0, this.bind(ranges), uniform ? [this.setUniform(uniform)] : []);
    pass.dispatchWorkgroups(x, y);
    pass.end();
  }
}

/** WebGPU's maxComputeWorkgroupsPerDimension on every device. */
export const MAX_WORKGROUPS = 65535;

function sameRanges(a: Ranges, b: Ranges): boolean {
  return a.length === b.length && a.every((range, binding) => sameRange(range, b[binding]));
}

function sameRange(a: Range | undefined, b: Range | undefined): boolean {
  return a?.buffer === b?.buffer && a?.offset === b?.offset && a?.size === b?.size;
}
