/**
 * What everything that a device holds for a user shares: its calls, which keep to their order, its end, and how it
 * describes itself.
 */
import type { Device } from "../device.js";
import type { KeyType } from "../engine/element-types.js";
import type { Engine } from "../engine/engine.js";
import { keepWhenDropped, whenDropped } from "../engine/when-dropped.js";
import { ValidationError } from "../errors.js";
import { Calls } from "./calls.js";

/** What is freed in the end. */
interface Memory {
  destroy(): void;
}

/** The name of the method that Node asks for what console.log prints. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Base of all containers and sketches. K is the type of the keys. */
export abstract class Queued<K extends KeyType> {
  /** The device that it lives on. */
  readonly device: Device;
  /** @internal */
  protected readonly engine: Engine;
  /** @internal */
  protected readonly calls: Calls<K>;
  readonly #memory: Memory;

  /** @param memory what `create` made, and nobody else can; it knows nothing of this object @internal */
  protected constructor(device: Device, memory: Memory | undefined) {
    // in JavaScript anybody can call this
    if (!memory) {
      throw new ValidationError(
        `A ${this[Symbol.toStringTag]} is made by \`create\`, not by \`new\`.`,
        `Write \`await ${this[Symbol.toStringTag]}.create(device, options)\`.`,
      );
    }
    this.device = device;
    this.engine = device.engine;
    this.#memory = memory;
    const { prototype } = new.target;
    const calls = new Calls<K>(() => {
      const what = prototype[Symbol.toStringTag];
      return new ValidationError(`This ${what} was destroyed.`, `Create a new ${what}.`);
    });
    this.calls = calls;
    whenDropped(this, () => void calls.end().then(() => memory.destroy()));
  }

  /** The name of the class. */
  abstract get [Symbol.toStringTag](): string;

  /** What console.log prints in Node. @internal */
  [INSPECT](): string {
    return this.toString();
  }

  /** Frees the memory, after the calls that are under way. Later calls reject. Idempotent. */
  destroy(): void {
    void this.#end();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  /** As destroy(), and waits until the memory is free. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  async #end(): Promise<void> {
    keepWhenDropped(this);
    await this.calls.end();
    this.#memory.destroy();
  }
}
