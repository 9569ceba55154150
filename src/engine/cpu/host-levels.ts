/**
 * The upper levels of the seam for an engine that lacks them: rows, lists, dictionaries and sketches run on the host.
 * What a call is given in the engine's memory is read back first, and what it answers there is uploaded. So an engine
 * with arrays and tables alone is complete, at the cost of a transfer each way.
 *
 * Objects of the host's engine that outlive a call (lists, dictionaries, indexes) are handed out behind a proxy, which
 * carries the arguments and answers of their methods as well.
 */
import { ValidationError } from "../../errors.js";
import { HostPool } from "../../host/pool.js";
import { DeviceArray } from "../device-array.js";
import type { BareEngine, Engine } from "../engine.js";
import { lazily } from "../lazily.js";
import { PinnedArray } from "../pinned-array.js";
import { openCpuEngine } from "./cpu-engine.js";

/**
 * Gives an engine the levels that it lacks. They work on the threads that its device uses for other work, too.
 * @param threads of the host, where the engine has none of its own. Default: as many as the machine runs at once
 */
export function completeLevels(engine: BareEngine, threads?: number): Engine {
  const all = engine as { -readonly [N in keyof BareEngine]: BareEngine[N] };
  const pool = engine.host ?? new HostPool({ threads });
  all.host = pool;
  void engine.lost.then(() => pool.destroy());
  const carrier = lazily(
    async () => new Carrier(engine, await openCpuEngine({ host: pool, seed: engine.hashSeed })),
  );
  const host = async () => (await carrier()).host;
  const level = <T extends object>(load: () => Promise<T>) =>
    lazily(async () => (await carrier()).show(await load()) as T);
  all.rows ??= level(async () => (await host()).rows());
  all.lists ??= level(async () => (await host()).lists());
  all.sketches ??= level(async () => (await host()).sketches());
  all.dictionary ??= async (spec) => {
    const { show, host } = await carrier();
    return show(await host.dictionary(spec));
  };
  return engine as Engine;
}

/** Carries values between an engine and the host. */
class Carrier {
  /** What proxies stand for. */
  readonly #originals = new WeakMap<object, object>();

  constructor(
    private readonly engine: BareEngine,
    readonly host: Engine,
  ) {
    void engine.lost.then(() => host.destroy());
  }

  /** An object of the host, for callers of the engine. `carried` are its properties in the engine's memory. */
  readonly show = <T extends object>(object: T, carried = new Map<string, DeviceArray>()): T => {
    const get = (target: T, name: string | symbol) => {
      const property = carried.get(name as string) ?? Reflect.get(target, name, target);
      if (typeof property !== "function") return property;
      return (...given: unknown[]) => {
        if (name === "destroy") for (const array of carried.values()) array.destroy();
        return this.#call((args) => Reflect.apply(property, target, args), given);
      };
    };
    const proxy = new Proxy(object, { get });
    this.#originals.set(proxy, object);
    return proxy;
  };

  /** Calls the host. What answers at once without arrays does so here, too. */
  #call(work: (args: unknown[]) => unknown, given: unknown[]): unknown {
    const answered = (answer: unknown) => (answer instanceof Promise ? answer.then(this.#toEngine) : answer);
    if (!given.some((value) => this.#isOfEngine(value))) return answered(work(given));
    return this.#toHost(given).then((args) => answered(work(args as unknown[])));
  }

  #isOfEngine(value: unknown): boolean {
    if (value instanceof DeviceArray || value instanceof PinnedArray) return true;
    if (typeof value !== "object" || value === null) return false;
    if (this.#originals.has(value)) return true;
    return isPlain(value) && Object.values(value).some((each) => this.#isOfEngine(each));
  }

  async #toHost(value: unknown): Promise<unknown> {
    if (value instanceof DeviceArray) return this.host.upload(value.type, await value.read());
    if (value instanceof PinnedArray) {
      const { view } = value.storage;
      if (view) return view;
      throw new ValidationError(
        "This engine has no pinned arrays for lists, sketches and tables of rows.",
        "Give typed arrays or device arrays.",
      );
    }
    if (typeof value !== "object" || value === null) return value;
    return this.#originals.get(value) ?? mapPlain(value, (each) => this.#toHost(each));
  }

  readonly #toEngine = async (value: unknown): Promise<unknown> => {
    if (value instanceof DeviceArray) return this.#uploaded(value);
    if (typeof value !== "object" || value === null || isMemory(value)) return value;
    const hasMethods = Object.values(value).some((each) => typeof each === "function");
    if (isPlain(value) && !hasMethods) return mapPlain(value, this.#toEngine);
    const carried = new Map<string, DeviceArray>();
    for (const [name, property] of Object.entries(value)) {
      if (property instanceof DeviceArray) carried.set(name, await this.#uploaded(property, false));
    }
    return this.show(value, carried);
  };

  /** @param isLast nobody else has the host's array */
  async #uploaded(array: DeviceArray, isLast = true): Promise<DeviceArray> {
    const copy = await this.engine.upload(array.type, await array.read());
    if (isLast) array.destroy();
    return copy;
  }
}

function isMemory(value: object): boolean {
  return ArrayBuffer.isView(value) || /ArrayBuffer]$/.test(Object.prototype.toString.call(value));
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
