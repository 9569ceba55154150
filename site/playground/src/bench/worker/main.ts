/** The worker of the view Bench: runs the modules of bench/ as they are. */
import * as gups from "../../../../../bench/gups.js";
import * as lifecycle from "../../../../../bench/lifecycle.js";
import { type BenchModule, type BenchReport, isRealGpu } from "../../../../../bench/report.js";
import * as staticMap from "../../../../../bench/static-map.js";
import { deviceOf, factsOf, openEngine } from "../../devices.js";
import type { EngineChoice } from "../../engines.js";
import { type CallContext, serve } from "../../rpc/server.js";
import { BENCHMARKS, type BenchRequest } from "../protocol.js";

const MODULES: Record<string, BenchModule> = { gups, lifecycle, "static-map": staticMap };

serve({
  async open(engine: EngineChoice) {
    const device = await deviceOf(engine);
    const kind = device.backend === "cpu" ? "cpu" : isRealGpu(device) ? "gpu" : "software";
    return { facts: factsOf(device), kind };
  },

  async run({ id, engine, size }: BenchRequest, { signal, progress }: CallContext): Promise<BenchReport> {
    const benchmark = BENCHMARKS.find((other) => other.id === id);
    if (!benchmark) throw new Error(`There is no benchmark "${id}".`);
    const { module, sweep } = benchmark;
    // a first table is one on a device that has done nothing
    const own = module === "lifecycle" ? await openEngine(engine) : null;
    const device = own ?? (await deviceOf(engine));
    const options = {
      ...(sweep && { sweep }),
      // the table of gups has its own size: larger than caches
      ...(module !== "gups" && { size }),
      signal,
      onProgress: (label: string) => progress({ text: label }),
    };
    try {
      return await MODULES[module].run(device, options);
    } finally {
      own?.destroy();
    }
  },
});
