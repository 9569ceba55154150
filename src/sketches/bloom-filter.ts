/**
 * BloomFilter: which keys may be in a set, in about a byte and a half a key, with some false positives and no false negatives.
 *
 * | at a glance | |
 * |---|---|
 * | keys | u32, i32, f32, u64 (as bigints); every bit pattern usable. f32 keys are equal as in JavaScript's Set (−0 = +0, NaN = NaN) |
 * | answers | contains: 1 for every key that was added, and for at most `falsePositives` of the others while no more than `capacity` are in |
 * | memory | 32 bytes × blocks: 10.5 bits a key for 1 % of false positives, 16.9 for 0.1 %, 26.3 for 0.01 % |
 * | contents | depend on the keys alone: the same bytes on every engine, in any order of calls |
 * | over capacity | nothing fails; false positives become more |
 * | cost per key | one block of 32 bytes, in one memory transaction |
 * | erase | none: make another filter |
 *
 * A split block Bloom filter (engine/sketch-format.ts). docs/sketches.md has the sizes and rates.
 */
import type { IntoOption, OutputOption, Placed } from "../containers/arguments.js";
import { checkDevice } from "../containers/create-table.js";
import { answered, destination, placed } from "../containers/results.js";
import { damaged } from "../containers/sealed-bytes.js";
import type { Device } from "../device.js";
import type { ColumnInput, ColumnTarget, Input, Placement } from "../engine/engine.js";
import type { BasicType } from "../engine/scalars.js";
import { BLOCK_BYTES, MOST_BLOCKS } from "../engine/sketch-format.js";
import type { EngineFilter } from "../engine/sketch-operations.js";
import { LimitError } from "../errors.js";
import { check, checkCallbacks, checkOptions, checkWhole } from "../options.js";
import { type SignalOption, untilAborted } from "../until-aborted.js";
import { blocksFor } from "./bloom-sizing.js";
import { checkKeyType, Sketch, type SketchCallOptions, type SketchParts } from "./sketch.js";
import { checkContents, packSketch, unpackSketch } from "./sketch-bytes.js";

/** Options of {@link BloomFilter.create}. */
export interface BloomFilterOptions<K extends BasicType> extends SignalOption {
  /** Type of the keys. */
  key: K;
  /** Distinct keys up to which `falsePositives` holds. A whole number of at least 0. */
  capacity: number;
  /** Part of the keys that were not added for which `contains` answers 1 all the same, at capacity; above 0 and below 1. Default 0.01. */
  falsePositives?: number;
}

type Sizes = Required<Pick<BloomFilterOptions<BasicType>, "capacity" | "falsePositives">> & {
  readonly blocks: number;
};
type Parts<K extends BasicType> = SketchParts<K, EngineFilter<K>> & { readonly sizes: Sizes };

/** A Bloom filter. Create one with {@link BloomFilter.create}. */
export class BloomFilter<K extends BasicType = "u32"> extends Sketch<K, EngineFilter<K>> {
  readonly #sizes: Sizes;

  /** @internal */
  private constructor(parts: Parts<K>) {
    super(parts);
    this.#sizes = parts.sizes;
  }

  /**
   * Makes an empty filter on a device.
   * @throws ValidationError for wrong options, LimitError when it is larger than a binding of the GPU, or there is no memory for it.
   * @example
   * const filter = await BloomFilter.create(device, { key: "u32", capacity: 1_000_000, falsePositives: 0.001 });
   * await filter.add(Uint32Array.of(3, 5, 8));
   * console.log(await filter.contains(Uint32Array.of(5, 6))); // Uint8Array [ 1, 0 ]
   */
  static async create<K extends BasicType>(
    device: Device,
    options: BloomFilterOptions<K>,
  ): Promise<BloomFilter<K>> {
    checkDevice(device);
    const sizes = checkFilter(options);
    const { key, signal } = options;
    return untilAborted(
      signal,
      () => open(device, key, sizes),
      (filter) => filter.destroy(),
    );
  }

  /**
   * A filter with the type, the sizes and the contents of what `toBytes` of a filter made, on any device and engine. Leave `bytes` unchanged
   * until the promise resolves.
   * @throws FormatError when the bytes are damaged, or are no filter's.
   */
  static async fromBytes<K extends BasicType = BasicType>(
    device: Device,
    bytes: Uint8Array,
  ): Promise<BloomFilter<K>> {
    checkDevice(device);
    check(bytes instanceof Uint8Array, "bytes", bytes, "Give the Uint8Array that toBytes made.");
    const found = unpackSketch("BloomFilter", bytes);
    const [capacity, falsePositives, blocks] = found.numbers;
    const isWhole = Number.isSafeInteger(capacity) && capacity >= 0 && Number.isSafeInteger(blocks);
    if (!isWhole || !isRate(falsePositives) || blocks < 1 || blocks > MOST_BLOCKS) {
      throw damaged("The header describes a filter that cannot be.");
    }
    checkContents(found, blocks * BLOCK_BYTES);
    return open(device, found.key as K, { capacity, falsePositives, blocks }, found.contents);
  }

  /** Makes filters of parts. @internal */
  static of<K extends BasicType>(parts: Parts<K>): BloomFilter<K> {
    return new BloomFilter(parts);
  }

  /** Distinct keys up to which `falsePositives` holds. */
  get capacity(): number {
    return this.#sizes.capacity;
  }
  /** Rate of false positives at capacity, at most. */
  get falsePositives(): number {
    return this.#sizes.falsePositives;
  }
  /** Bits of the filter, a multiple of 256. */
  get bits(): number {
    return 8 * this.bytes;
  }

  /**
   * Which keys may be there: one byte per key, 1 or 0, in input order; 0 where left out by `mask`. With `output: "device"` the answer is
   * a mask for other calls.
   */
  async contains<P extends Placement = "host">(
    keys: ColumnInput<K>,
    options: SketchCallOptions & OutputOption<P> & IntoOption<{ found: ColumnTarget<"u8"> }> = {},
  ): Promise<Placed<"u8", P>> {
    const call = this.checkCall(keys, options, " output into");
    const to = destination(this.engine, options, keys.length, { found: "u8" });
    const contains = async (keys: Input<K>) =>
      [await this.sketch.contains(keys as ColumnInput<K>, to, call)] as const;
    const [result] = await this.calls.read(
      { operation: ["contains"], keys: keys as Input<K>, call, to },
      contains,
    );
    return answered(call, { found: placed<"u8", P>(result, keys.length) }).found;
  }

  /**
   * Takes in all keys of another filter of the same key type and size, which stays as it is; it may be on another device. The result is
   * the filter of all keys of both, bit by bit.
   */
  merge(other: BloomFilter<K>): Promise<void> {
    return this.take(other, "union");
  }

  /**
   * Keeps what another filter of the same key type and size has too: all keys that are in both stay. Others may stay as well, more than a
   * filter of the common keys alone would let through.
   */
  intersect(other: BloomFilter<K>): Promise<void> {
    return this.take(other, "intersection");
  }

  /** A filter of its own with the same contents, on the same device. @throws LimitError when there is not the memory for it. */
  async clone(): Promise<BloomFilter<K>> {
    const { device, keyType: key } = this;
    const sketch = await this.calls.run(() => this.copySketch());
    return new BloomFilter({ device, key, sketch, sizes: this.#sizes });
  }

  /** The filter for `fromBytes`, on any device and engine. docs/sketches.md has the format. */
  toBytes(): Promise<Uint8Array<ArrayBuffer>> {
    const { capacity, falsePositives, blocks } = this.#sizes;
    const numbers = [capacity, falsePositives, blocks];
    return this.calls.run(() => packSketch("BloomFilter", this.keyType, numbers, this.sketch));
  }

  get [Symbol.toStringTag](): string {
    return "BloomFilter";
  }

  /** @internal */
  protected get facts(): string {
    const { capacity, falsePositives, bits } = this;
    return `capacity: ${capacity}, falsePositives: ${falsePositives}, bits: ${bits}`;
  }

  /** @internal */
  protected get shape(): string {
    return `${this.keyType} keys and ${this.bits} bits`;
  }

  /** @internal */
  protected async load(contents: Uint8Array): Promise<EngineFilter<K>> {
    const operations = await this.engine.sketches();
    return operations.filter(this.keyType, this.#sizes.blocks, contents);
  }

  /** @internal */
  protected copySketch(): Promise<EngineFilter<K>> {
    return this.sketch.copy();
  }
}

async function open<K extends BasicType>(
  device: Device,
  key: K,
  sizes: Sizes,
  contents?: Uint8Array,
): Promise<BloomFilter<K>> {
  const operations = await device.engine.sketches();
  const sketch = await operations.filter(key, sizes.blocks, contents);
  return BloomFilter.of({ device, key, sketch, sizes });
}

function checkFilter(options: BloomFilterOptions<BasicType>): Sizes {
  checkOptions(options, "key capacity falsePositives signal");
  const { key, capacity, falsePositives = 0.01, signal } = options;
  checkCallbacks({ signal });
  checkKeyType(key);
  checkWhole("capacity", capacity);
  const fix = "Give a number above 0 and below 1, such as 0.01.";
  check(isRate(falsePositives), "falsePositives", falsePositives, fix);
  const blocks = blocksFor(capacity, falsePositives);
  if (blocks > MOST_BLOCKS) {
    throw new LimitError("blocks", blocks, MOST_BLOCKS, "Use a smaller capacity, or more false positives.");
  }
  return { capacity, falsePositives, blocks };
}

function isRate(rate: unknown): boolean {
  return typeof rate === "number" && rate > 0 && rate < 1;
}
