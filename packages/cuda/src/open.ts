/** Opens a GPU, the first unless another is asked for. Loaded by the first openDevice that asks for this engine. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type EngineInfo, loadArrays, loadLists, loadRows, type OpenedEngine } from "warpmap/engine";
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
import { Result } from "./driver/ffi.js";
import { CudaRuntime } from "./runtime/cuda-runtime.js";
import type { SeveralTuning } from "./several/several-engine.js";
import { warmUpOnce } from "./warm-up.js";

/** The GPUs by their numbers, of those that the process may use. */
export interface GpuOption {
  readonly gpu?: number;
  readonly gpus?: number | "all" | readonly number[];
}

/** A GPU that there is, by its number. */
interface FoundGpu {
  readonly gpu: number;
  readonly facts: GpuFacts;
  readonly info: EngineInfo;
}

/** The least compute capability that the kernels are made for. */
const LEAST_CAPABILITY = 8;

/** Opens the engine. @throws BackendUnavailableError */
export async function open(request: CudaRequest & GpuOption & SeveralTuning): Promise<OpenedEngine> {
  const [driver, image] = await Promise.all([openDriver(), readKernels()]);
  const { gpu = 0, gpus, backend = "auto" } = request;
  const there = gpuCount(driver);
  const asked = gpus === undefined ? [gpu] : numbersOf(gpus, there);
  for (const number of asked) checkThere(number, there);
  const found = asked.map((number) => find(driver, number));
  loadLevels();
  const areMade = new AbortController();
  // what fails here takes longer when it is called
  warmUpOnce(found[0], areMade.signal).catch(() => {});
  const letGo = await makeContexts(driver, asked);
  areMade.abort();
  const engines: CudaEngine[] = [];
  try {
    const { keep } = request.memory ?? {};
    const memory = keep === undefined ? undefined : { keep: keep / asked.length };
    for (const each of found) engines.push(openOne(driver, image, each, { ...request, memory }));
    const [{ info }] = engines;
    const isChosen = backend === "auto" && request.gpu === undefined && gpus === undefined;
    if (engines.length === 1) return { engine: engines[0], reason: reasonFor(info.name, isChosen) };
    const all = infoOfAll(engines.map((engine) => engine.info));
    const { SeveralEngine } = await import("./several/several-engine.js");
    return { engine: new SeveralEngine(engines, all, request), reason: reasonFor(all.name, isChosen) };
  } catch (error) {
    for (const engine of engines) engine.destroy();
    throw error;
  } finally {
    letGo();
  }
}

/** Begins to load what first calls would wait for: making a context takes longer. A load that fails is tried again by the call. */
function loadLevels(): void {
  void Promise.allSettled([loadArrays(), loadRows(), loadLists()]);
}

/**
 * Has the driver make GPUs' contexts on other threads, which takes a fifth of a second: JavaScript goes on meanwhile.
 * What fails is told by those who take the contexts.
 * @returns gives them back, once others have taken them
 */
async function makeContexts({ api, aside }: Driver, gpus: readonly number[]): Promise<() => void> {
  const results = await Promise.all(
    gpus.map((gpu) => aside("cuDevicePrimaryCtxRetain", new BigUint64Array(1), gpu)),
  );
  const made = gpus.filter((_, i) => results[i] === Result.SUCCESS);
  return () => {
    for (const gpu of made) api.cuDevicePrimaryCtxRelease_v2(gpu);
  };
}

const reasonFor = (name: string, isChosen: boolean) =>
  isChosen ? `An NVIDIA GPU is there: ${name}.` : `The cuda engine was asked for: ${name}.`;

function numbersOf(gpus: NonNullable<GpuOption["gpus"]>, there: number): readonly number[] {
  if (typeof gpus === "object") return gpus;
  if (gpus !== "all") checkThere(gpus - 1, there);
  return Array.from({ length: gpus === "all" ? there : gpus }, (_, gpu) => gpu);
}

function checkThere(gpu: number, there: number): void {
  if (gpu < there) return;
  const numbers = there === 1 ? "0" : `0 to ${there - 1}`;
  throw unavailable(
    `there is no GPU ${gpu}`,
    `Ask for one of ${numbers}; CUDA_VISIBLE_DEVICES hides others.`,
  );
}

/** A GPU that the kernels run on. @throws BackendUnavailableError */
function find(driver: Driver, gpu: number): FoundGpu {
  const facts = describeGpu(driver, gpu);
  if (Number.parseFloat(facts.capability) < LEAST_CAPABILITY) {
    throw unavailable(
      `${facts.name} has compute capability ${facts.capability}, and the kernels need ${LEAST_CAPABILITY}.0 or later`,
      "Use the webgpu backend, or a GPU of the Ampere generation or later.",
    );
  }
  return { gpu, facts, info: infoOf(driver, gpu, facts) };
}

function openOne(
  driver: Driver,
  image: Uint8Array,
  { gpu, facts, info }: FoundGpu,
  request: CudaRequest,
): CudaEngine {
  const context = new CudaContext(driver, gpu);
  try {
    const runtime = new CudaRuntime(context, facts, image, request.memory?.keep);
    return new CudaEngine(runtime, info, request);
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
      memory: gibibytes(memory),
    },
    limits: { memory, multiprocessors },
    features: [],
  };
}

/** Facts about GPUs that are one device. */
function infoOfAll(infos: readonly EngineInfo[]): EngineInfo {
  const [first] = infos;
  const isSame = infos.every(({ name }) => name === first.name);
  const sum = (limit: string) => infos.reduce((total, { limits }) => total + limits[limit], 0);
  const memory = sum("memory");
  return {
    ...first,
    name: isSame ? `${infos.length} x ${first.name}` : infos.map(({ name }) => name).join(" + "),
    hardware: {
      ...first.hardware,
      gpu: infos.map(({ hardware }) => hardware.gpu).join(", "),
      memory: gibibytes(memory),
    },
    limits: { memory, multiprocessors: sum("multiprocessors") },
    gpus: infos.map(({ name, hardware, limits }) => ({
      gpu: Number(hardware.gpu),
      name,
      memory: limits.memory,
    })),
  };
}

const gibibytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** The driver's own version, where the system says it: the API has that of CUDA alone. */
function driverVersion(): string | undefined {
  try {
    const text = readFileSync("/proc/driver/nvidia/version", "utf8");
    return /\b(\d+\.\d+(?:\.\d+)?)\b/.exec(text)?.[1];
  } catch {
    return undefined;
  }
}
