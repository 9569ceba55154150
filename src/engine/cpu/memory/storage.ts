/**
 * Device arrays and pinned arrays of the cpu engine: typed arrays over its memory, which workers can read without a
 * copy when it is shared.
 */
import { DeviceLostError, ValidationError } from "../../../errors.js";
import type { Allocation, Memory } from "../../../host/memory.js";
import { type ArrayStorage, DeviceArray } from "../../device-array.js";
import { columnsOf, type KeyType, lengthOf, type ValueType } from "../../element-types.js";
import type { ColumnInput, Engine, Input } from "../../engine.js";
import { PinnedArray, type PinnedUse } from "../../pinned-array.js";
import {
  allocate,
  arrayClass,
  asBits,
  asBytes,
  type Scalar,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
} from "../../scalars.js";
import type { Batch, Columns } from "../table/sequential.js";

/** What is under a device array of the cpu engine. */
export class HostStorage<T extends ScalarType> implements ArrayStorage<T> {
  #alive = true;

  constructor(
    readonly type: T,
    readonly length: number,
    readonly allocation: Allocation,
    /** Says whether the engine is still there. */
    readonly engineAlive: () => boolean,
  ) {}

  get host(): ScalarArrays[T] {
    if (!this.#alive)
      throw new ValidationError(
        "The device array was destroyed.",
        "Use device arrays before they are destroyed.",
      );
    if (!this.engineAlive()) throw new DeviceLostError("destroyed", "its arrays are gone");
    return new arrayClass[this.type](this.allocation.buffer, 0, this.length);
  }

  async read(start: number, end: number): Promise<ScalarArrays[T]> {
    const copy = allocate(this.type, end - start);
    asBytes(copy).set(asBytes(this.host.subarray(start, end)));
    return copy;
  }

  async write(data: ScalarArrays[T], start: number): Promise<void> {
    asBytes(this.host.subarray(start, start + data.length)).set(asBytes(data));
  }

  destroy(): void {
    this.#alive = false;
    this.allocation.release();
  }
}

/** A new device array; zeroed on request. */
export function newDeviceArray<T extends ScalarType>(
  engine: Engine,
  engineAlive: () => boolean,
  memory: Memory,
  type: T,
  length: number,
  zeroed: boolean,
): DeviceArray<T> {
  const allocation = memory.allocate(length * scalarBytes[type], zeroed);
  return DeviceArray.of(engine, type, length, new HostStorage(type, length, allocation, engineAlive));
}

/** A pinned array with the memory of a device array: here the host's memory and the engine's are one. */
export function newPinnedArray<T extends ScalarType, U extends PinnedUse>(
  engine: Engine,
  { type, length, storage }: DeviceArray<T>,
  use: U,
): PinnedArray<T, U> {
  return PinnedArray.of(engine, type, length, use, {
    get view() {
      return storage.host as ScalarArrays[T];
    },
    lend() {},
    async regain() {},
    destroy: () => storage.destroy(),
  });
}

/** Inputs of one operation as plain typed arrays. Device arrays among them are kept until `release`. */
export class Inputs {
  readonly #held: Allocation[] = [];

  constructor(private readonly engine: Engine) {}

  /** The 32-bit words of each column of an input. */
  columns(input: Input<KeyType | ValueType> | null): Columns {
    return columnsOf<ColumnInput>(input as ColumnInput | null).map((column) => asBits(this.#resolve(column)));
  }

  /** The 32-bit words of one column. */
  bits(column: ColumnInput<Scalar>): Uint32Array {
    return asBits(this.#resolve(column));
  }

  /** A mask, to be read or written. */
  mask(input: Input<"u8">): Uint8Array {
    return asBytes(this.#resolve(input));
  }

  /** Keys and mask of a batch. */
  batch(keys: Input<KeyType>, where: Input<"u8"> | undefined): Batch<Columns> {
    const mask = where === undefined ? null : this.mask(where);
    return { keys: this.columns(keys), where: mask, length: lengthOf(keys) };
  }

  release(): void {
    for (const allocation of this.#held.splice(0)) allocation.release();
  }

  #resolve<T extends ScalarType>(input: ColumnInput<T>): ScalarArrays[T] {
    if (input instanceof PinnedArray) return input.storage.view as ScalarArrays[T];
    if (!(input instanceof DeviceArray)) return input;
    const { storage } = input;
    if (input.engine !== this.engine || !(storage instanceof HostStorage)) {
      throw new ValidationError(
        "A device array belongs to another device than the table.",
        "Upload the data to the table's own device.",
      );
    }
    const array = storage.host as ScalarArrays[T];
    storage.allocation.retain();
    this.#held.push(storage.allocation);
    return array;
  }
}
