/**
 * Kernels of the fat binary, and their calls. A kernel's function (function-name.ts) has one argument: a struct with an
 * address and a number of bytes for every binding, and then a word for every constant and every parameter, in the order
 * of the declaration.
 */
import {
  type Bindings,
  bindingsOf,
  type Constants,
  getOrMake,
  type Kernel,
  type KernelSource,
  type ParamLayers,
  type Params,
  type Range,
} from "warpmap/engine";
import type { CudaContext } from "../driver/context.js";
import { readNumber } from "../driver/driver.js";
import { Result } from "../driver/ffi.js";
import { functionName } from "./function-name.js";
import { addressOf } from "./memory.js";

/** Threads of a block, unless the kernel has the constant WORKGROUP or INVOCATIONS. */
const BLOCK = 256;
/** Bytes of the largest struct: the driver takes 4 KiB. */
const MOST_BYTES = 4096;
/** Of CUfunction_attribute. */
const MOST_DYNAMIC_SHARED = 8;

/** What kernels are called with: one at a time, and the driver copies it during the call. */
const words = new Uint32Array(MOST_BYTES / 4);

/** Words of shared memory that a launch gives each block, by the fragment that uses them. */
const SHARED_WORDS: { readonly [fragment: string]: (constants: Constants) => number } = {
  "join/part-table": ({ SLOTS }) => Number(SLOTS),
  "reduce/group-cache": ({ CACHE, FIRSTS, SUMMED, WORDS }) =>
    Math.ceil((Number(CACHE) + 1) * (2.5 + Number(FIRSTS ?? 0) + (SUMMED ? Number(WORDS) + 1 : 0))),
  "sketches/registers-add": ({ LOCAL, PRECISION }) => (LOCAL ? 2 ** Number(PRECISION) : 0),
};

/** Kernels that are known of one source, at most. */
const MOST_KNOWN = 256;

export class Kernels {
  readonly #functions = new Map<string, number>();
  /** By the values of their constants: making one takes longer than its launch. */
  readonly #kernels = new WeakMap<KernelSource, Map<string, CudaKernel>>();
  /** Bytes of shared memory that launches of a function may ask for. */
  readonly #shared = new Map<number, number>();
  readonly module: number;
  /** The address of `words`. */
  readonly #pointer: BigUint64Array;

  /** @param image the fat binary, or the module that was loaded from it into the same context */
  constructor(
    private readonly context: CudaContext,
    image: Uint8Array | number,
  ) {
    const { api, driver } = context;
    this.module =
      typeof image === "number"
        ? image
        : readNumber((into) => context.check("Loading the kernels", api.cuModuleLoadData(into, image)));
    this.#pointer = BigUint64Array.of(BigInt(driver.addressOf(words)));
  }

  /** Lets launches of a function ask for so much shared memory, and for what others asked before. */
  #allowShared(name: string, address: number, bytes: number): void {
    if (bytes <= (this.#shared.get(address) ?? 0)) return;
    const result = this.context.api.cuFuncSetAttribute(address, MOST_DYNAMIC_SHARED, bytes);
    this.context.check(`Shared memory of the kernel ${name}`, result);
    this.#shared.set(address, bytes);
  }

  /** @param constants besides those of the source WORKGROUP, and SHARED_BYTES that a launch asks for */
  compile<P extends string, B extends string, C extends string>(
    source: KernelSource<P, B, C>,
    constants: Constants<C>,
  ): CudaKernel<P, B> {
    const known = getOrMake(this.#kernels, source as KernelSource, () => new Map<string, CudaKernel>());
    const key = JSON.stringify(constants);
    // constants of tables say how large they are
    if (known.size === MOST_KNOWN && !known.has(key)) known.clear();
    return getOrMake(known, key, () =>
      this.#make(source as KernelSource, constants),
    ) as unknown as CudaKernel<P, B>;
  }

  #make(source: KernelSource, constants: Constants): CudaKernel {
    const name = functionName(source, constants);
    this.context.enter();
    let address = this.#functions.get(name);
    if (address === undefined) {
      const { api } = this.context;
      address = readNumber((into) =>
        this.context.check(`Finding the kernel ${name}`, api.cuModuleGetFunction(into, this.module, name)),
      );
      this.#functions.set(name, address);
    }
    const kernel = new CudaKernel(this.context, address, this.#pointer, source, constants);
    if (kernel.sharedBytes > 0) this.#allowShared(name, address, kernel.sharedBytes);
    return kernel;
  }
}

export class CudaKernel<P extends string = string, B extends string = string> implements Kernel<P, B> {
  readonly #bindings: readonly string[];
  /** Where the parameters' words are. */
  readonly #places: ReadonlyMap<string, number>;
  readonly #constants: readonly number[];
  readonly #block: number;
  /** Bytes of shared memory that a launch asks for. */
  readonly sharedBytes: number;

  constructor(
    private readonly context: CudaContext,
    private readonly address: number,
    private readonly pointer: BigUint64Array,
    readonly source: KernelSource<P, B>,
    constants: Constants,
  ) {
    this.#bindings = [...bindingsOf(source).keys()];
    const names = new Set(source.fragments.flatMap((fragment) => fragment.constants));
    this.#constants = Array.from(names, (name) => Number(constants[name] ?? 0));
    const first = 4 * this.#bindings.length + this.#constants.length;
    this.#places = new Map(source.params.map((name, i) => [name, first + i]));
    this.#block = Number(constants.WORKGROUP ?? constants.INVOCATIONS ?? BLOCK);
    const shared = source.fragments.map(({ name }) => SHARED_WORDS[name]?.(constants) ?? 0);
    this.sharedBytes = Number(constants.SHARED_BYTES ?? 4 * Math.max(0, ...shared));
  }

  launch(bindings: Bindings<B>, params: ParamLayers<P>, blocks: number): void {
    if (blocks === 0) return;
    let at = 0;
    for (const name of this.#bindings) {
      const range = (bindings as Bindings<string>)[name];
      setNumber(at, range ? addressOf(range) : 0);
      setNumber(at + 2, range ? bytesOf(range) : 0);
      at += 4;
    }
    for (const word of this.#constants) words[at++] = word;
    words.fill(0, at, at + this.#places.size);
    if (Array.isArray(params)) for (let i = params.length - 1; i >= 0; i--) this.#put(params[i]);
    else this.#put(params as Params<P>);
    const { api, stream } = this.context;
    const { address, pointer, sharedBytes } = this;
    const block = this.#block;
    // biome-ignore format: the grid, the block, and what else a launch takes
    const result = api.cuLaunchKernel(address, blocks, 1, 1, block, 1, 1, sharedBytes, stream, pointer, null);
    if (result !== Result.SUCCESS) this.context.check(`The kernel ${this.source.label}`, result);
  }

  /** Over what was put before: looking each parameter up takes twice as long. */
  #put(params: Params<P>): void {
    for (const name in params) {
      const place = this.#places.get(name);
      const value = params[name];
      if (place !== undefined && value !== undefined) words[place] = value;
    }
  }
}

/** Writes a number of 64 bits, an address or a size. */
function setNumber(at: number, number: number): void {
  words[at] = number;
  words[at + 1] = number / 2 ** 32;
}

const bytesOf = ({ buffer, offset = 0, size = buffer.size - offset }: Range) => size;
