/**
 * warpmap-cuda: the engine of warpmap for NVIDIA GPUs. Importing it registers the engine, and loads nothing else:
 * `openDevice({ backend: "cuda" })` and `auto` import it by themselves.
 */
import {
  check,
  checkWhole,
  ENGINE_PROTOCOL,
  type EngineKind,
  type EngineRequest,
  registerEngine,
  ValidationError,
} from "warpmap/engine";

/** GPUs of one device, at most. */
const MOST_GPUS = 64;

/** How the engine is opened. @internal */
export const cudaEngine: EngineKind = {
  protocol: ENGINE_PROTOCOL,
  // before webgpu, which reaches the same GPUs
  order: 0,
  options: "gpu gpus",
  chosenBy: "gpu gpus",
  async check(request: EngineRequest) {
    const { gpu = 0, gpus } = request;
    checkWhole("gpu", gpu);
    if (gpus === undefined) return;
    if (request.gpu !== undefined) {
      throw new ValidationError("gpu and gpus were given together.", "Leave out one of the two.");
    }
    if (gpus === "all") return;
    if (typeof gpus !== "object") return checkWhole("gpus", gpus, 1);
    check(
      Array.isArray(gpus) && gpus.length > 0,
      "gpus",
      gpus,
      'Give a number, "all", or a list of numbers.',
    );
    for (const each of gpus) checkWhole("A number in gpus", each);
    check(gpus.length <= MOST_GPUS, "gpus", gpus, `Give ${MOST_GPUS} numbers at most.`);
  },
  each: async () => (await import("./open.js")).each(),
  open: async (request) => (await import("./open.js")).open(request),
};

registerEngine("cuda", cudaEngine);
