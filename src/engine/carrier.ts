/**
 * Objects of one engine for callers of another: what a call is given in the memory of the callers' engine is brought to
 * the one that works, and what it answers is brought back. Objects that outlive a call (lists, dictionaries, indexes)
 * are handed out behind a proxy, which carries the arguments and answers of their methods as well.
 */
import { DeviceArray } from "./device-array.js";
import { PinnedArray } from "./pinned-array.js";

/** How arrays get from one engine to the other. */
export interface Carriage {
  /** An array of the callers' for the engine that works; `free` is called when the call, and what it made, is done. */
  there(array: DeviceArray): Promise<{ readonly array: DeviceArray; readonly free?: () => void }>;
  /** The same of pinned memory. */
  pinned(array: PinnedArray): unknown;
  /** An array for the callers. @param isLast nobody else has the one it is made of */
  back(array: DeviceArray, isLast: boolean): Promise<DeviceArray>;
}

/** What is to be freed with an object, or behind a call. */
type Freeing = (() => void)[];

export class Carrier {
  /** What proxies stand for. */
  readonly #originals = new WeakMap<object, object>();

  constructor(private readonly carriage: Carriage) {}

  /**
   * An object of the engine that works, for callers of the other. `carried` are its properties in the callers' memory;
   * `freeing` is called when it is destroyed.
   */
  readonly show = <T extends object>(
    object: T,
    carried = new Map<string, DeviceArray>(),
    freeing: Freeing = [],
  ): T => {
    const get = (target: T, name: string | symbol) => {
      const property = carried.get(name as string) ?? Reflect.get(target, name, target);
      if (typeof property === "object" && property !== null && hasOwnMethods(property)) {
        return this.show(property);
      }
      if (typeof property !== "function") return property;
      return (...given: unknown[]) => {
        const answer = this.#call((args) => Reflect.apply(property, target, args), given);
        if (name === "destroy") {
          for (const array of carried.values()) array.destroy();
          for (const free of freeing.splice(0)) free();
        }
        return answer;
      };
    };
    const proxy = new Proxy(object, { get });
    this.#originals.set(proxy, object);
    return proxy;
  };

  /** Makes a call. What answers at once without arrays does so here, too. */
  #call(work: (args: unknown[]) => unknown, given: unknown[]): unknown {
    const freeing: Freeing = [];
    const answered = (answer: unknown) =>
      answer instanceof Promise ? this.#settle(answer, freeing) : answer;
    if (!given.some((value) => this.#isCarried(value))) return answered(work(given));
    const arguments_ = this.#there(given, freeing);
    return this.#settle(
      arguments_.then((args) => work(args as unknown[])),
      freeing,
    );
  }

  /** The answer for the callers. What was made for the call goes with it, or stays with an object that it answers. */
  async #settle(answer: Promise<unknown>, freeing: Freeing): Promise<unknown> {
    try {
      return await this.#back(await answer, freeing);
    } finally {
      for (const free of freeing.splice(0)) free();
    }
  }

  #isCarried(value: unknown): boolean {
    if (value instanceof DeviceArray || value instanceof PinnedArray) return true;
    if (typeof value !== "object" || value === null) return false;
    if (this.#originals.has(value)) return true;
    return isPlain(value) && Object.values(value).some((each) => this.#isCarried(each));
  }

  async #there(value: unknown, freeing: Freeing): Promise<unknown> {
    if (value instanceof DeviceArray) {
      const { array, free } = await this.carriage.there(value);
      if (free) freeing.push(free);
      return array;
    }
    if (value instanceof PinnedArray) return this.carriage.pinned(value);
    if (typeof value !== "object" || value === null) return value;
    return this.#originals.get(value) ?? mapPlain(value, (each) => this.#there(each, freeing));
  }

  async #back(value: unknown, freeing: Freeing): Promise<unknown> {
    if (value instanceof DeviceArray) return this.carriage.back(value, true);
    if (typeof value !== "object" || value === null || isMemory(value)) return value;
    if (isPlain(value) && !hasOwnMethods(value)) return mapPlain(value, (each) => this.#back(each, freeing));
    const carried = new Map<string, DeviceArray>();
    for (const [name, property] of Object.entries(value)) {
      if (property instanceof DeviceArray) carried.set(name, await this.carriage.back(property, false));
    }
    return this.show(value, carried, freeing.splice(0));
  }
}

function isMemory(value: object): boolean {
  const isArray = ArrayBuffer.isView(value) || value instanceof PinnedArray;
  return isArray || /ArrayBuffer]$/.test(Object.prototype.toString.call(value));
}

/** An object whose methods are to be carried: of a class other than those of arrays, or with functions of its own. */
function hasOwnMethods(value: object): boolean {
  if (isMemory(value) || value instanceof DeviceArray) return false;
  return Object.values(value).some((each) => typeof each === "function");
}

/** A list, or an object without a class. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

async function mapPlain(value: object, map: (each: unknown) => Promise<unknown>): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map(map));
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(async ([name, each]) => [name, await map(each)] as const);
  return Object.fromEntries(await Promise.all(entries));
}
