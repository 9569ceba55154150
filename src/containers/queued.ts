/** What everything that a device holds for a user shares: its calls, which keep to their order, its end, and how it describes itself. */
import type { Device } from "../device.js";
import type { KeyType } from "../engine/element-types.js";
import type { Engine } from "../engine/engine.js";
import { ValidationError } from "../errors.js";
import { Calls } from "./calls.js";

/** The name of the method that Node asks for what console.log prints. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Base of all containers and sketches. K is the type of the keys. */
export abstract class Queued<K extends KeyType> {
  /** The device that it lives on. */
  readonly device: Device;
  /** @internal */
  protected readonly engine: Engine;
  /** @internal */
  protected readonly calls = new Calls<K>(() => {
    const what = this[Symbol.toStringTag];
    return new ValidationError(`This ${what} was destroyed.`, `Create a new ${what}.`);
  });

  /** @param parts what `create` made, and nobody else can @internal */
  protected constructor(device: Device, parts: object | undefined) {
    // in JavaScript anybody can call this
    if (!parts) {
      throw new ValidationError(
        `A ${this[Symbol.toStringTag]} is made by \`create\`, not by \`new\`.`,
        `Write \`await ${this[Symbol.toStringTag]}.create(device, options)\`.`,
      );
    }
    this.device = device;
    this.engine = device.engine;
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
    await this.calls.end();
    this.free();
  }

  /** Frees the memory. @internal */
  protected abstract free(): void;
}
