/**
 * The keys that benchmarks of maps work on, known by their number so that every answer can be checked without a second
 * table. Key number i is mix(i) and has the value i; keys of the numbers from `size` on are absent. Look-ups go through the
 * keys in another order than they were inserted in, because a table in insertion order (a JS Map) would gain by that.
 *
 * workload.wgsl is the same arithmetic: a GPU makes its columns itself.
 */
import type { Device, DeviceArray } from "../src/index.js";
import { mix } from "./mix.js";
import { type GpuWorkload, openGpuWorkload } from "./workload-gpu.js";

/** Most keys: as many again are absent. */
export const MOST_KEYS = 2 ** 31;

/** A stride that is exact in doubles times 2^31, and prime. */
const STRIDE = 2_654_467;

/** Columns of keys. `keys` in the order of insertion, `lookups` in another, `absent` without any key that is there, and `half` lookups with an absent key at every other place. */
export type KeyColumn = "keys" | "lookups" | "absent" | "half";

/** Key, value and order of every number below `size`. */
export class Workload {
  /** Look-ups step through the numbers by this. */
  readonly stride: number;

  /** @param size keys: 1 to 2^31. */
  constructor(readonly size: number) {
    // a prime divides size, or has no factor in common with it
    this.stride = size % STRIDE === 0 ? 1 : STRIDE;
  }

  /** The key that has the value `number`. */
  keyOf(number: number): number {
    return mix(number);
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
  column(column: KeyColumn, first = 0, count = this.size): Uint32Array {
    const elements = new Uint32Array(count);
    for (let i = 0; i < count; i++) elements[i] = this.keyOf(this.numberAt(column, first + i));
    return elements;
  }

  keys(): Uint32Array {
    return this.column("keys");
  }

  values(first = 0, count = this.size): Uint32Array {
    const elements = new Uint32Array(count);
    for (let i = 0; i < count; i++) elements[i] = first + i;
    return elements;
  }

  lookups(): Uint32Array {
    return this.column("lookups");
  }

  absent(): Uint32Array {
    return this.column("absent");
  }

  /** A mask for `lookups`: 1 where the key's number is odd. */
  odd(): Uint8Array {
    const elements = new Uint8Array(this.size);
    for (let i = 0; i < elements.length; i++) elements[i] = this.lookedUpAt(i) & 1;
    return elements;
  }
}

/** A workload's columns in the memory of one device, each made when it is first asked for. */
export interface DeviceWorkload extends Disposable {
  readonly workload: Workload;
  /** Makes and checks columns on the GPU; null on the cpu engine. */
  readonly gpu: GpuWorkload | null;
  keys(): Promise<DeviceArray<"u32">>;
  values(): Promise<DeviceArray<"u32">>;
  lookups(): Promise<DeviceArray<"u32">>;
  absent(): Promise<DeviceArray<"u32">>;
  half(): Promise<DeviceArray<"u32">>;
  odd(): Promise<DeviceArray<"u8">>;
}

/** Opens a workload on a device. */
export async function openWorkload(device: Device, workload: Workload): Promise<DeviceWorkload> {
  const gpu = device.gpuDevice ? await openGpuWorkload(device, workload) : null;
  const made = new Map<string, Promise<DeviceArray>>();
  const once = <A extends DeviceArray>(name: string, make: () => Promise<A>): Promise<A> => {
    if (!made.has(name)) made.set(name, make());
    return made.get(name) as Promise<A>;
  };
  const column = (name: KeyColumn) => () =>
    once(name, () => gpu?.column(name) ?? device.upload(workload.column(name)));
  return {
    workload,
    gpu,
    keys: column("keys"),
    lookups: column("lookups"),
    absent: column("absent"),
    half: column("half"),
    values: () => once("values", () => gpu?.numbers() ?? device.upload(workload.values())),
    odd: () => once("odd", () => gpu?.odd() ?? device.upload(workload.odd())),
    [Symbol.dispose]() {
      const destroy = (array: DeviceArray) => array.destroy();
      // whoever asked for a column that failed was told
      for (const column of made.values()) void column.then(destroy, () => {});
      gpu?.destroy();
    },
  };
}
