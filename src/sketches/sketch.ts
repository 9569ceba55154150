/**
 * What all sketches share: the engine's sketch, and the calls that are the same for all; as with containers they keep
 * to their order (containers/queued.ts). It knows no backend.
 */
import {
  type Call,
  checkCallOptions,
  checkColumn,
  checkMask,
  type IntoOption,
  type MaskOption,
  type OutputOption,
  type ProgressOptions,
} from "../containers/arguments.js";
import { Queued } from "../containers/queued.js";
import { answered } from "../containers/results.js";
import type { Device } from "../device.js";
import type { ColumnInput, Placement } from "../engine/engine.js";
import { checkStrategy, type Strategy } from "../engine/plan.js";
import { type BasicType, basicTypes } from "../engine/scalars.js";
import type { Combination, EngineSketch } from "../engine/sketch-operations.js";
import { check, checkOneOf } from "../options.js";

/** Options of the calls of sketches over keys. */
export interface SketchCallOptions extends ProgressOptions, MaskOption {
  /**
   * How the engine works on the batch. Default `auto`, or what openDevice was told. The sketch and the answer do not
   * depend on it.
   */
  strategy?: Strategy;
}

/** What a sketch is made of. @internal */
export interface SketchParts<K extends BasicType, S extends EngineSketch<K>> {
  readonly device: Device;
  readonly key: K;
  readonly sketch: S;
}

/** Base of the sketches. */
export abstract class Sketch<
  K extends BasicType,
  S extends EngineSketch<K> = EngineSketch<K>,
> extends Queued<K> {
  /** Type of the keys. */
  readonly keyType: K;
  /** @internal */
  protected readonly sketch: S;

  /** @internal */
  protected constructor(parts: SketchParts<K, S>) {
    super(parts?.device, parts?.sketch);
    this.keyType = parts.key;
    this.sketch = parts.sketch;
  }

  /** Bytes of the contents; what `toBytes` writes has 64 more. */
  get bytes(): number {
    return this.sketch.bytes;
  }

  /** Takes keys in. Keys that were in change nothing. When the call is aborted or fails, some of them are in. */
  async add(keys: ColumnInput<K>, options: SketchCallOptions = {}): Promise<void> {
    const call = this.checkCall(keys, options);
    await this.calls.run(() => this.sketch.add(keys, call), [keys], call);
    answered(call, {});
  }

  /** Takes everything out. */
  clear(): Promise<void> {
    return this.calls.run(() => this.sketch.clear());
  }

  /** Types, sizes and error in one line. */
  override toString(): string {
    const state = this.calls.ended ? "destroyed" : this.facts;
    return `${this[Symbol.toStringTag]}<${this.keyType}> { ${state} }`;
  }

  /** Sizes and error, in words. @internal */
  protected abstract get facts(): string;
  /** What another sketch must share with this one to be merged with it. @internal */
  protected abstract get shape(): string;
  /** An engine sketch of this shape on this device, with these contents. @internal */
  protected abstract load(contents: Uint8Array): Promise<S>;
  /** Another engine sketch with the contents of this one. @internal */
  protected abstract copySketch(): Promise<S>;

  /** The contents, in the order of calls. @internal */
  protected contents(): Promise<Uint8Array> {
    return this.calls.run(() => readContents(this.sketch));
  }

  /**
   * Takes in another sketch of the same class and shape, which stays as it is and may be on another device. @internal
   */
  protected async take(other: Sketch<K, S>, how: Combination): Promise<void> {
    this.calls.check();
    const isAlike = other instanceof Sketch && other[Symbol.toStringTag] === this[Symbol.toStringTag];
    check(
      isAlike && other.shape === this.shape,
      "What to merge",
      isAlike ? String(other) : other,
      `Give a ${this[Symbol.toStringTag]} of ${this.shape}.`,
    );
    // in the queue of the other one now, and in this one's behind all calls made before
    const copy =
      other.device === this.device
        ? other.calls.run(() => other.copySketch())
        : other.contents().then((contents) => this.load(contents));
    copy.catch(() => {});
    await this.calls
      .run(async () => {
        const sketch = await copy;
        try {
          await this.sketch.combine(sketch, how);
        } finally {
          sketch.destroy();
        }
      })
      .catch(async (error: unknown) => {
        // a call that was refused has left the copy to nobody
        (await copy.catch(() => undefined))?.destroy();
        throw error;
      });
  }

  /**
   * Checks a call over keys. @param more names of options that it takes beside those of all, each after a space
   * @internal
   */
  protected checkCall(
    keys: ColumnInput<K>,
    options: SketchCallOptions & OutputOption<Placement> & IntoOption<object>,
    more: "" | " output into" = "",
  ): Call {
    const { engine } = this;
    checkColumn(engine, "keys", this.keyType, keys);
    const call = checkCallOptions(options, ` mask strategy${more}`, "where");
    const where = checkMask(engine, keys, options);
    const { strategy = engine.defaults.strategy } = options;
    checkStrategy({ strategy });
    return { ...call, where, strategy };
  }
}

/** An engine sketch's contents. */
export async function readContents(sketch: EngineSketch): Promise<Uint8Array> {
  const contents = new Uint8Array(sketch.bytes);
  await sketch.read(contents);
  return contents;
}

/** Checks the type of a sketch's keys. */
export function checkKeyType(key: unknown): void {
  checkOneOf("key type", key, basicTypes);
}
