/** Opens a GPU, the first unless another is asked for. Loaded by the first openDevice that asks for this engine. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { EngineInfo, OpenedEngine } from "warpmap/engine";
import { CudaEngine, type CudaRequest } from "./cuda-engine.js";
import { CudaContext } from "./driver/context.js";
import {
  type Driver,
  describeGpu,
  type GpuFacts,
  gpuCount,
  openDriver,
  unavailable,
} from "./driver/driver.js";
import { CudaRuntime } from "./runtime/cuda-runtime.js";

/** The GPU's number, of those that the process may use. */
export interface GpuOption {
  readonly gpu?: number;
}

/** The least compute capability that the kernels are made for. */
const LEAST_CAPABILITY = 8;

/** Opens the engine. @throws BackendUnavailableError */
export async function open(request: CudaRequest & GpuOption): Promise<OpenedEngine> {
  const [driver, image] = await Promise.all([openDriver(), readKernels()]);
  const { gpu = 0, memory, backend = "auto" } = request;
  const gpus = gpuCount(driver);
  if (gpu >= gpus) {
    const numbers = gpus === 1 ? "0" : `0 to ${gpus - 1}`;
    throw unavailable(
      `there is no GPU ${gpu}`,
      `Ask for one of ${numbers}; CUDA_VISIBLE_DEVICES hides others.`,
    );
  }
  const facts = describeGpu(driver, gpu);
  if (Number.parseFloat(facts.capability) < LEAST_CAPABILITY) {
    throw unavailable(
      `${facts.name} has compute capability ${facts.capability}, and the kernels need ${LEAST_CAPABILITY}.0 or later`,
      "Use the webgpu backend, or a GPU of the Ampere generation or later.",
    );
  }
  const context = new CudaContext(driver, gpu);
  try {
    const runtime = new CudaRuntime(context, facts, image, memory?.keep);
    const engine = new CudaEngine(runtime, infoOf(driver, gpu, facts), request);
    const asked = backend === "auto" && request.gpu === undefined;
    const reason = asked
      ? `An NVIDIA GPU is there: ${facts.name}.`
      : `The cuda engine was asked for: ${facts.name}.`;
    return { engine, reason };
  } catch (error) {
    context.destroy(() => {});
    throw error;
  }
}

/** All GPUs there are, as options of openDevice. */
export async function each(): Promise<GpuOption[]> {
  return Array.from({ length: gpuCount(await openDriver()) }, (_, gpu) => ({ gpu }));
}

/** The fat binary lies beside the bundle. */
async function readKernels(): Promise<Uint8Array> {
  const path = process.env.WARPMAP_CUDA_KERNELS || new URL("./kernels.fatbin", import.meta.url);
  return readFile(path).catch((cause) => {
    const fix =
      "In a clone run `npm run build:kernels` where nvcc is on the PATH; else install the package again.";
    throw unavailable("this copy of warpmap-cuda has no kernels (kernels.fatbin)", fix, cause);
  });
}

function infoOf({ cuda }: Driver, gpu: number, facts: GpuFacts): EngineInfo {
  const { name, memory, capability, multiprocessors } = facts;
  return {
    backend: "cuda",
    name,
    software: false,
    threads: 0,
    hardware: {
      vendor: "nvidia",
      gpu: String(gpu),
      capability,
      driver: [driverVersion(), `CUDA ${cuda}`].filter(Boolean).join(", "),
      memory: `${(memory / 2 ** 30).toFixed(1)} GiB`,
    },
    limits: { memory, multiprocessors },
    features: [],
  };
}

/** The driver's own version, where the system says it: the API has that of CUDA alone. */
function driverVersion(): string | undefined {
  try {
    const text = readFileSync("/proc/driver/nvidia/version", "utf8");
    return /\b(\d+\.\d+(?:\.\d+)?)\b/.exec(text)?.[1];
  } catch {
    return undefined;
  }
}
