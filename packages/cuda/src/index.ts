/**
 * warpmap-cuda: the engine of warpmap for NVIDIA GPUs. Importing it registers the engine, and loads nothing else:
 * `openDevice({ backend: "cuda" })` and `auto` import it by themselves.
 */
import { checkWhole, ENGINE_PROTOCOL, type EngineRequest, registerEngine } from "warpmap/engine";

registerEngine("cuda", {
  protocol: ENGINE_PROTOCOL,
  // before webgpu, which reaches the same GPUs
  order: 0,
  options: "gpu",
  chosenBy: "gpu",
  async check({ gpu = 0 }: EngineRequest) {
    checkWhole("gpu", gpu);
  },
  each: async () => (await import("./open.js")).each(),
  open: async (request) => (await import("./open.js")).open(request),
});
