/**
 * The keys that benchmarks of maps work on, known by their number so that every answer can be checked without a second
 * table. Key number i is mix(i) and has the value i (of 64 bits: mix(~i) and ~i are the upper words); keys of the numbers from `size` on are
 * absent. Look-ups go through the
 * keys in another order than they were inserted in, because a table in insertion order (a JS Map) would gain by that.
 *
 * workload.wgsl is the same arithmetic: a GPU makes its columns itself.
 */
import type { BulkOptions, Device, DeviceArray, ScalarArrays } from "../src/index.js";
import { mix } from "./mix.js";
import { type GpuWorkload, openGpuWorkload } from "./workload-gpu.js";

/** Most keys: as many again are absent. */
export const MOST_KEYS = 2 ** 31;

/** A stride that is exact in doubles times 2^31, and prime. */
const STRIDE = 2_654_467;

/** Columns of keys. `keys` in the order of insertion, `lookups` in another, `absent` without any key that is there, and `half` lookups with an absent key at every other place. */
export type KeyColumn = "keys" | "lookups" | "absent" | "half";

/** Type of keys and values. */
export type Width = "u32" | "u64";

type Into = { readonly output: "device" };

/** A StaticMap as benchmarks of either width call it. */
export interface BenchMap<T extends Width = "u32"> {
  readonly size: number;
  clear(): Promise<void>;
  insert(
    keys: DeviceArray<T>,
    values: DeviceArray<T>,
    options?: BulkOptions,
  ): Promise<{ inserted: number; existing: number }>;
  find(
    keys: DeviceArray<T>,
    options: BulkOptions & Into & { missing?: never },
  ): Promise<{ values: DeviceArray<T>; found: DeviceArray<"u8"> }>;
  erase(keys: DeviceArray<T>, options?: BulkOptions): Promise<{ erased: number }>;
  retrieveAll(options: Into): Promise<{ keys: DeviceArray<T>; values: DeviceArray<T> }>;
}

/** Key, value and order of every number below `size`. */
export class Workload<T extends Width = "u32"> {
  /** Look-ups step through the numbers by this. */
  readonly stride: number;
  /** 32-bit words of a key, and of a value. */
  readonly words: 1 | 2;

  /** @param size keys: 1 to 2^31. */
  constructor(
    readonly size: number,
    readonly type: T = "u32" as T,
  ) {
    this.words = type === "u64" ? 2 : 1;
    // a prime divides size, or has no factor in common with it
    this.stride = size % STRIDE === 0 ? 1 : STRIDE;
  }

  /** The key that has the value `number`; of 64 bits the lower word. */
  keyOf(number: number): number {
    return mix(number);
  }

  /** Whether there are a key, or a value, of this number at a place of a column, given as words. */
  isKey(words: Uint32Array, place: number, number: number): boolean {
    if (this.words === 1) return words[place] === mix(number);
    return words[2 * place] === mix(number) && words[2 * place + 1] === mix(~number);
  }
  isValue(words: Uint32Array, place: number, number: number): boolean {
    if (this.words === 1) return words[place] === number;
    return words[2 * place] === number && words[2 * place + 1] === ~number >>> 0;
  }

  /** The number of the key that is looked up at place `i`; every number comes once. */
  lookedUpAt(i: number): number {
    // i * stride modulo size: all products are exact, and the quotient is at most one off. The operator % is ten times slower
    const product = i * this.stride;
    const rest = product - Math.floor(product / this.size) * this.size;
    if (rest < 0) return rest + this.size;
    return rest < this.size ? rest : rest - this.size;
  }

  /** The number of the key at place `i` of a column; from `size` on it is absent. */
  numberAt(column: KeyColumn, i: number): number {
    if (column === "keys") return i;
    if (column === "absent") return this.size + i;
    return this.lookedUpAt(i) + (column === "half" && i % 2 === 1 ? this.size : 0);
  }

  /** Elements `first` to `first + count` of a column (all, unless told). */
  column(column: KeyColumn, first = 0, count = this.size): ScalarArrays[T] {
    return this.keysOf(count, (i) => this.numberAt(column, first + i));
  }

  /** `count` keys by their numbers. */
  keysOf(count: number, numberAt: (i: number) => number): ScalarArrays[T] {
    const { words } = this;
    const elements = new Uint32Array(count * words);
    for (let i = 0; i < count; i++) {
      const number = numberAt(i);
      elements[i * words] = mix(number);
      if (words === 2) elements[2 * i + 1] = mix(~number);
    }
    return this.#typed(elements);
  }

  keys(): ScalarArrays[T] {
    return this.column("keys");
  }

  values(first = 0, count = this.size): ScalarArrays[T] {
    const { words } = this;
    const elements = new Uint32Array(count * words);
    for (let i = 0; i < count; i++) {
      elements[i * words] = first + i;
      if (words === 2) elements[2 * i + 1] = ~(first + i);
    }
    return this.#typed(elements);
  }

  lookups(): ScalarArrays[T] {
    return this.column("lookups");
  }

  absent(): ScalarArrays[T] {
    return this.column("absent");
  }

  #typed(words: Uint32Array<ArrayBuffer>): ScalarArrays[T] {
    return (this.words === 2 ? new BigUint64Array(words.buffer) : words) as ScalarArrays[T];
  }

  /** A mask for `lookups`: 1 where the key's number is odd. */
  odd(): Uint8Array {
    const elements = new Uint8Array(this.size);
    for (let i = 0; i < elements.length; i++) elements[i] = this.lookedUpAt(i) & 1;
    return elements;
  }
}

/** A workload's columns in the memory of one device, each made when it is first asked for. */
export interface DeviceWorkload<T extends Width = "u32"> extends Disposable {
  readonly workload: Workload<T>;
  /** Makes and checks columns on the GPU; null on the cpu engine. */
  readonly gpu: GpuWorkload<T> | null;
  keys(): Promise<DeviceArray<T>>;
  values(): Promise<DeviceArray<T>>;
  lookups(): Promise<DeviceArray<T>>;
  absent(): Promise<DeviceArray<T>>;
  half(): Promise<DeviceArray<T>>;
  odd(): Promise<DeviceArray<"u8">>;
}

/** Opens a workload on a device. */
export async function openWorkload<T extends Width>(
  device: Device,
  workload: Workload<T>,
): Promise<DeviceWorkload<T>> {
  const gpu = device.gpuDevice ? await openGpuWorkload(device, workload) : null;
  const made = new Map<string, Promise<DeviceArray>>();
  const once = <A extends DeviceArray>(name: string, make: () => Promise<A>): Promise<A> => {
    if (!made.has(name)) made.set(name, make());
    return made.get(name) as Promise<A>;
  };
  const upload = (column: ScalarArrays[T]) => device.upload(column) as unknown as Promise<DeviceArray<T>>;
  const column = (name: KeyColumn) => () =>
    once(name, () => gpu?.column(name) ?? upload(workload.column(name)));
  return {
    workload,
    gpu,
    keys: column("keys"),
    lookups: column("lookups"),
    absent: column("absent"),
    half: column("half"),
    values: () => once("values", () => gpu?.numbers() ?? upload(workload.values())),
    odd: () => once("odd", () => gpu?.odd() ?? device.upload(workload.odd())),
    [Symbol.dispose]() {
      const destroy = (array: DeviceArray) => array.destroy();
      // whoever asked for a column that failed was told
      for (const column of made.values()) void column.then(destroy, () => {});
      gpu?.destroy();
    },
  };
}
