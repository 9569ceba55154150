/**
 * The keys that static-map works on, known by their number so that every answer can be checked without a second table.
 * Key number i is mix(i) and has the value i; keys of the numbers from `size` on are absent. Look-ups go through the keys in
 * another order than they were inserted in, because a table in insertion order (a JS Map) would gain by that.
 */
import type { Device, DeviceArray } from "../src/index.js";
import { mix } from "./mix.js";

/** A stride that is exact in doubles times 2^31, and prime. */
const STRIDE = 2_654_467;
/** Most keys: as many again are absent. */
export const MOST_KEYS = 2 ** 31;

/** Key, value and order of every number below `size`. */
export class Workload {
  readonly #stride: number;

  /** @param size keys: 1 to 2^31. */
  constructor(readonly size: number) {
    // a prime divides size, or has no factor in common with it
    this.#stride = size % STRIDE === 0 ? 1 : STRIDE;
  }

  /** The key that has the value `number`. */
  keyOf(number: number): number {
    return mix(number);
  }

  /** The number of the key that is looked up at place `i`; every number comes once. */
  lookedUpAt(i: number): number {
    // i * stride modulo size: all products are exact, and the quotient is at most one off. The operator % is ten times slower
    const product = i * this.#stride;
    const rest = product - Math.floor(product / this.size) * this.size;
    if (rest < 0) return rest + this.size;
    return rest < this.size ? rest : rest - this.size;
  }

  keys(): Uint32Array {
    return this.#column((i) => this.keyOf(i));
  }

  values(): Uint32Array {
    return this.#column((i) => i);
  }

  lookups(): Uint32Array {
    return this.#column((i) => this.keyOf(this.lookedUpAt(i)));
  }

  absent(): Uint32Array {
    return this.#column((i) => this.keyOf(this.size + i));
  }

  #column(at: (i: number) => number): Uint32Array {
    const column = new Uint32Array(this.size);
    for (let i = 0; i < column.length; i++) column[i] = at(i);
    return column;
  }
}

/** A workload's columns in the memory of one device. */
export interface DeviceWorkload extends Disposable {
  readonly workload: Workload;
  readonly keys: DeviceArray<"u32">;
  readonly values: DeviceArray<"u32">;
  readonly lookups: DeviceArray<"u32">;
  readonly absent: DeviceArray<"u32">;
  /** A mask for `lookups`: 1 where the key's number is odd. */
  readonly odd: DeviceArray<"u8">;
}

/** Brings a workload to a device. */
export async function uploadWorkload(device: Device, workload: Workload): Promise<DeviceWorkload> {
  const odd = new Uint8Array(workload.size);
  for (let i = 0; i < odd.length; i++) odd[i] = workload.lookedUpAt(i) & 1;
  const columns = {
    keys: await device.upload(workload.keys()),
    values: await device.upload(workload.values()),
    lookups: await device.upload(workload.lookups()),
    absent: await device.upload(workload.absent()),
    odd: await device.upload(odd),
  };
  return {
    workload,
    ...columns,
    [Symbol.dispose]() {
      for (const column of Object.values(columns)) column.destroy();
    },
  };
}
