/**
 * Finding a GPU: `navigator.gpu` on a page, Dawn in Node (dawn.ts). Says precisely why there is none. A file of its own
 * in dist/: pages without a GPU load this and not the engine.
 */
import type { EngineRequest, OpenedEngine } from "../../registry.js";
import type { WebgpuOptions } from "../native-types.js";
import type { Unavailable } from "./unavailable.js";

/** A GPUDevice and what is known about the hardware under it. */
export interface OpenedGpu {
  device: GPUDevice;
  name: string;
  software: boolean;
  /** What the driver says of itself. */
  hardware: Record<string, string>;
}

/** Features that kernels or benchmarks use where the device has them. */
const wantedFeatures = ["subgroups", "timestamp-query"] as const;

/**
 * Opens the engine on the caller's device or a GPU. The adapter first: where there is none, the engine is not loaded.
 */
export async function openWebgpu(request: EngineRequest): Promise<OpenedEngine> {
  const { gpuDevice } = request;
  const adapter = gpuDevice ? undefined : await findAdapter(request);
  const opening = Promise.resolve(adapter ? openGpu(adapter) : describeDevice(gpuDevice as GPUDevice));
  const loading = import("../webgpu-engine.js");
  try {
    const [gpu, { openWebgpuEngine }] = await Promise.all([opening, loading]);
    const engine = await openWebgpuEngine(gpu, request);
    return { engine, reason: reasonOf(request, gpu.name) };
  } catch (error) {
    // a device of our own whose engine did not come; the caller's stays open
    if (adapter) void opening.then(({ device }) => device.destroy()).catch(() => {});
    throw error;
  }
}

function reasonOf({ gpuDevice, backend = "auto", software }: EngineRequest, name: string): string {
  if (gpuDevice) return "The caller's own GPUDevice.";
  if (software) return `A software GPU was asked for: ${name}.`;
  return backend === "auto" ? `A real GPU is there: ${name}.` : `The webgpu engine was asked for: ${name}.`;
}

/** The adapter to open. @throws BackendUnavailableError */
export async function findAdapter(request: WebgpuOptions): Promise<GPUAdapter> {
  const { software = false, powerPreference = "high-performance" } = request;
  const gpu = await findGpu(request);
  const adapter = await orUnavailable("WebGPU finds no adapter", () =>
    gpu.requestAdapter({ powerPreference, forceFallbackAdapter: software }),
  );
  if (!adapter) throw await unavailable(software ? "no software GPU" : "no GPU");
  if (software || !isSoftware(adapter)) return adapter;
  throw await unavailable({ onlySoftware: adapterName(adapterFacts(adapter)) });
}

/** Opens a GPUDevice with all of the adapter's limits. @throws BackendUnavailableError */
export async function openGpu(adapter: GPUAdapter): Promise<OpenedGpu> {
  const facts = adapterFacts(adapter);
  const device = await orUnavailable("the GPU does not open", () =>
    adapter.requestDevice({
      label: "warpmap",
      requiredLimits: adapterLimits(adapter),
      requiredFeatures: wantedFeatures.filter((feature) => adapter.features.has(feature)),
    }),
  );
  return { device, name: adapterName(facts), software: isSoftware(adapter), hardware: facts };
}

/** A failure of the browser or the driver, as the reason why the backend is not available. */
async function orUnavailable<T>(
  failed: Extract<Unavailable, { failed: string }>["failed"],
  attempt: () => Promise<T> | T,
): Promise<T> {
  try {
    return await attempt();
  } catch (cause) {
    throw await unavailable({ failed, cause });
  }
}

/** Facts about a caller's own GPUDevice. */
export function describeDevice(device: GPUDevice): OpenedGpu {
  const facts = textFields(device.adapterInfo ?? {});
  const software = softwareName.test(Object.values(facts).join(" "));
  return { device, name: adapterName(facts), software, hardware: facts };
}

/**
 * What a person would call the adapter. Dawn names the device in lower case with hyphens. Browsers often name none.
 * Deno gives PCI numbers as vendor and device, and the name as description.
 */
export function adapterName({ vendor, architecture, device, description }: Record<string, string>): string {
  const name = withoutNumber(device).replace(/-+/g, " ").trim() || description;
  return name || [withoutNumber(vendor), architecture].filter(Boolean).join(" ") || "unnamed GPU";
}

const withoutNumber = (text: string): string => (/^(0x[\da-f]+|\d+)$/i.test(text) ? "" : text);

async function findGpu({ software = false }: WebgpuOptions): Promise<GPU> {
  const fromBrowser = (globalThis.navigator as Navigator | undefined)?.gpu;
  if (fromBrowser) return fromBrowser;
  if (globalThis.process?.versions?.node === undefined) {
    throw await unavailable("no navigator.gpu");
  }
  const found = await orUnavailable("WebGPU does not load", async () =>
    (await import("./dawn.js")).dawn(software),
  );
  if ("reason" in found) throw await unavailable(found);
  return found;
}

const softwareName = /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i;

function isSoftware(adapter: GPUAdapter): boolean {
  const info = adapter.info as GPUAdapterInfo & { isFallbackAdapter?: boolean };
  return info.isFallbackAdapter === true || softwareName.test(Object.values(textFields(info)).join(" "));
}

function adapterFacts(adapter: GPUAdapter): Record<string, string> {
  return textFields(adapter.info);
}

function textFields(info: Partial<GPUAdapterInfo>): Record<string, string> {
  const { vendor = "", architecture = "", device = "", description = "" } = info;
  return { vendor, architecture, device, description };
}

/** Every limit the adapter has, so that tables and bindings may be as large as the hardware allows. */
function adapterLimits(adapter: GPUAdapter): Record<string, number> {
  const limits: Record<string, number> = {};
  for (const name in adapter.limits) {
    const value = adapter.limits[name as keyof GPUSupportedLimits];
    if (typeof value === "number") limits[name] = value;
  }
  return limits;
}

async function unavailable(what: Unavailable): Promise<Error> {
  return (await import("./unavailable.js")).unavailable(what);
}
