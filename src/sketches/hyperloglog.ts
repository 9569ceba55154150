/**
 * HyperLogLog: how many distinct keys there were, from a few kilobytes.
 *
 * | at a glance | |
 * |---|---|
 * | keys | u32, i32, f32, u64 (as bigints); f32 keys are equal as in JavaScript's Set (−0 = +0, NaN = NaN) |
 * | estimate | relative standard error 1.04 / sqrt(2^precision): 0.81 % at precision 14, over the whole range from 0 to beyond 2^60 |
 * | estimator | the improved raw estimator of Ertl 2017: no bias tables (estimate.ts) |
 * | hash | 64 bits (engine/sketch-format.ts) |
 * | memory | 2^precision bytes; on webgpu four times as much |
 * | contents | depend on the keys alone: the same bytes on every engine, in any order of calls |
 * | cost per key | reading it |
 */
import { checkDevice } from "../containers/create-table.js";
import { damaged } from "../containers/sealed-bytes.js";
import type { Device } from "../device.js";
import type { BasicType } from "../engine/scalars.js";
import { LEAST_PRECISION, MOST_PRECISION, mostRank } from "../engine/sketch-format.js";
import type { EngineRegisters } from "../engine/sketch-operations.js";
import { check, checkCallbacks, checkOptions } from "../options.js";
import { type SignalOption, untilAborted } from "../until-aborted.js";
import { estimate, standardError } from "./estimate.js";
import { checkKeyType, Sketch, type SketchParts } from "./sketch.js";
import { checkContents, packSketch, unpackSketch } from "./sketch-bytes.js";

/** Options of {@link HyperLogLog.create}. */
export interface HyperLogLogOptions<K extends BasicType> extends SignalOption {
  /** Type of the keys. */
  key: K;
  /**
   * The sketch has 2^precision registers: 4 to 18, default 14. One more takes twice the memory, and its error is 0.71
   * of the other's.
   */
  precision?: number;
}

type Parts<K extends BasicType> = SketchParts<K, EngineRegisters<K>> & { readonly precision: number };

/** A sketch that counts distinct keys. Create one with {@link HyperLogLog.create}. */
export class HyperLogLog<K extends BasicType = "u32"> extends Sketch<K, EngineRegisters<K>> {
  /** The sketch has 2^precision registers. */
  readonly precision: number;

  /** @internal */
  private constructor(parts: Parts<K>) {
    super(parts);
    this.precision = parts.precision;
  }

  /**
   * Makes an empty sketch on a device.
   * @throws ValidationError for wrong options
   * @example
   * const visitors = await HyperLogLog.create(device, { key: "u64" });
   * await visitors.add(BigUint64Array.of(70n, 71n, 70n));
   * console.log(Math.round(await visitors.estimate())); // 2
   */
  static async create<K extends BasicType>(
    device: Device,
    options: HyperLogLogOptions<K>,
  ): Promise<HyperLogLog<K>> {
    checkDevice(device);
    const precision = checkRegisters(options);
    const { key, signal } = options;
    return untilAborted(
      signal,
      () => open(device, key, precision),
      (sketch) => sketch.destroy(),
    );
  }

  /**
   * A sketch with the contents of what `toBytes` of a HyperLogLog made, on any device and engine. Leave `bytes`
   * unchanged until the promise resolves.
   * @throws FormatError when the bytes are damaged, or are no HyperLogLog's.
   */
  static async fromBytes<K extends BasicType = BasicType>(
    device: Device,
    bytes: Uint8Array,
  ): Promise<HyperLogLog<K>> {
    checkDevice(device);
    check(bytes instanceof Uint8Array, "bytes", bytes, "Give the Uint8Array that toBytes made.");
    const found = unpackSketch("HyperLogLog", bytes);
    const [precision] = found.numbers;
    if (!isPrecision(precision)) throw damaged("The header describes a sketch that cannot be.");
    checkContents(found, 2 ** precision);
    const most = mostRank(precision);
    if (found.contents.some((rank) => rank > most)) {
      throw damaged(`A register holds more than ${most}, the most there can be.`);
    }
    return open(device, found.key as K, precision, found.contents);
  }

  /** Makes sketches of parts. @internal */
  static of<K extends BasicType>(parts: Parts<K>): HyperLogLog<K> {
    return new HyperLogLog(parts);
  }

  /** Relative standard error of `estimate`: two of three estimates are that near to the truth, 19 of 20 twice that. */
  get standardError(): number {
    return standardError(this.precision);
  }

  /**
   * About how many distinct keys were added: a number with a fraction, 0 for an empty sketch. Brings 2^precision
   * registers to the host.
   */
  async estimate(): Promise<number> {
    return estimate(await this.contents(), this.precision);
  }

  /**
   * Takes in all keys of another sketch of the same key type and precision, which stays as it is; it may be on another
   * device. The result is the sketch of all keys of both, register by register.
   */
  merge(other: HyperLogLog<K>): Promise<void> {
    return this.take(other, "union");
  }

  /** A sketch of its own with the same contents, on the same device. */
  async clone(): Promise<HyperLogLog<K>> {
    const { device, keyType: key, precision } = this;
    const sketch = await this.calls.run(() => this.copySketch());
    return new HyperLogLog({ device, key, sketch, precision });
  }

  /** The sketch for `fromBytes`, on any device and engine. docs/sketches.md has the format. */
  toBytes(): Promise<Uint8Array<ArrayBuffer>> {
    const numbers = [this.precision, 0, 0];
    return this.calls.run(() => packSketch("HyperLogLog", this.keyType, numbers, this.sketch));
  }

  get [Symbol.toStringTag](): string {
    return "HyperLogLog";
  }

  /** @internal */
  protected get facts(): string {
    return `precision: ${this.precision}, standardError: ${Number(this.standardError.toPrecision(3))}`;
  }

  /** @internal */
  protected get shape(): string {
    return `${this.keyType} keys and precision ${this.precision}`;
  }

  /** @internal */
  protected async load(contents: Uint8Array): Promise<EngineRegisters<K>> {
    const operations = await this.engine.sketches();
    return operations.registers(this.keyType, this.precision, contents);
  }

  /** @internal */
  protected copySketch(): Promise<EngineRegisters<K>> {
    return this.sketch.copy();
  }
}

async function open<K extends BasicType>(
  device: Device,
  key: K,
  precision: number,
  contents?: Uint8Array,
): Promise<HyperLogLog<K>> {
  const operations = await device.engine.sketches();
  const sketch = await operations.registers(key, precision, contents);
  return HyperLogLog.of({ device, key, sketch, precision });
}

/** Checks the options, and answers the precision. */
function checkRegisters(options: HyperLogLogOptions<BasicType>): number {
  checkOptions(options, "key precision signal");
  const { key, precision = 14, signal } = options;
  checkCallbacks({ signal });
  checkKeyType(key);
  const fix = `Give a whole number from ${LEAST_PRECISION} to ${MOST_PRECISION}.`;
  check(isPrecision(precision), "precision", precision, fix);
  return precision;
}

function isPrecision(precision: number): boolean {
  return Number.isInteger(precision) && precision >= LEAST_PRECISION && precision <= MOST_PRECISION;
}
