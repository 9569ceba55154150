/** The checks of `openDevice`, loaded when it is given options besides the name of an engine that is known. */
import type { OpenDeviceOptions } from "./device.js";
import { findInstalled, loadEngine } from "./engine/load-engine.js";
import { checkStrategy } from "./engine/plan.js";
import { knownEngines } from "./engine/registry.js";
import { ValidationError } from "./errors.js";
import { check, checkCallbacks, checkOptions, checkWhole } from "./options.js";

/** Makes the engine known that is named, or that other options choose. @throws ValidationError, BackendUnavailableError */
export async function checkDeviceOptions(options: OpenDeviceOptions): Promise<OpenDeviceOptions> {
  const { backend = "auto", gpu, gpus } = options ?? {};
  if (backend === "auto" || (gpu ?? gpus) !== undefined) await findInstalled();
  await loadEngine(backend);
  const engines = knownEngines();
  const own = engines.map(([, kind]) => kind.options).join(" ");
  checkOptions(options, `backend ${own} memory strategy groupSize concurrency seed signal` as never);
  checkCallbacks({ signal: options.signal });
  const isGiven = (name: string) => options[name as keyof OpenDeviceOptions] !== undefined;
  let chosen = backend;
  for (const [name, kind] of engines) {
    const given = kind.chosenBy?.split(" ").find(isGiven);
    if (given) chosen = chosen === "auto" ? name : chosen;
    if (given && chosen !== name) {
      throw new ValidationError(
        `A ${given} was given together with backend "${backend}".`,
        "Leave out one of the two.",
      );
    }
    if (kind.options.split(" ").some(isGiven)) await kind.check?.(options);
  }
  const { threads = 1, concurrency = 1 } = options;
  checkWhole("threads", threads, 1);
  checkWhole("concurrency", concurrency, 1);
  checkStrategy(options);
  const { memory = {}, seed = 0 } = options;
  check(seed === seed >>> 0, "seed", seed, "Give a whole number from 0 to 4294967295, or none.");
  checkOptions(memory, "keep");
  const { keep = 0 } = memory;
  check(typeof keep === "number" && keep >= 0, "memory.keep", keep, "Give bytes, at least 0.");
  return { ...options, backend: chosen };
}
