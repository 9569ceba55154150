/**
 * The upper levels of the seam for an engine that lacks them: rows, lists, dictionaries and sketches run on the host.
 * What a call is given in the engine's memory is read back first, and what it answers there is uploaded. So an engine
 * with arrays and tables alone is complete, at the cost of a transfer each way.
 */
import { ValidationError } from "../../errors.js";
import { HostPool } from "../../host/pool.js";
import { Carrier } from "../carrier.js";
import type { BareEngine, Engine } from "../engine.js";
import { lazily } from "../lazily.js";
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
  const opened = lazily(async () => {
    const host = await openCpuEngine({ host: pool, seed: engine.hashSeed });
    void engine.lost.then(() => host.destroy());
    return { host, show: carrierTo(engine, host).show };
  });
  const level = <T extends object>(load: (host: Engine) => Promise<T>) =>
    lazily(async () => {
      const { host, show } = await opened();
      return show(await load(host));
    });
  all.rows ??= level((host) => host.rows());
  all.lists ??= level((host) => host.lists());
  all.sketches ??= level((host) => host.sketches());
  all.dictionary ??= async (spec) => {
    const { host, show } = await opened();
    return show(await host.dictionary(spec));
  };
  return engine as Engine;
}

/** Carries arrays between an engine and the host. */
function carrierTo(engine: BareEngine, host: Engine): Carrier {
  return new Carrier({
    there: async (array) => ({ array: await host.upload(array.type, await array.read()) }),
    pinned({ storage }) {
      const { view } = storage;
      if (view) return view;
      throw new ValidationError(
        "This engine has no pinned arrays for lists, sketches and tables of rows.",
        "Give typed arrays or device arrays.",
      );
    },
    async back(array, isLast) {
      const copy = await engine.upload(array.type, await array.read());
      if (isLast) array.destroy();
      return copy;
    },
  });
}
