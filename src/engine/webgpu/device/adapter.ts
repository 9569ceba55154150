/** Finding a GPU: `navigator.gpu` on a page, Dawn in Node (dawn.ts). Says precisely why there is none. */
import { BackendUnavailableError, type TriedBackend } from "../../../errors.js";

/** An opened GPUDevice and what is known about the hardware under it. */
export interface OpenedGpu {
  device: GPUDevice;
  software: boolean;
  adapter: Record<string, string>;
}

/** What to look for. */
export interface GpuRequest {
  /** A software GPU in place of a real one. */
  software?: boolean;
  powerPreference?: "low-power" | "high-performance";
}

/** Features that kernels or benchmarks use where the device has them. */
const wantedFeatures = ["subgroups", "timestamp-query"] as const;

/** Opens a GPUDevice with all of the adapter's limits. @throws BackendUnavailableError */
export async function openGpu(request: GpuRequest): Promise<OpenedGpu> {
  const gpu = await findGpu();
  const adapter = await findAdapter(gpu, request);
  const facts = adapterFacts(adapter);
  const device = await orUnavailable("the GPU does not open", () =>
    adapter.requestDevice({
      label: "warpmap",
      requiredLimits: adapterLimits(adapter),
      requiredFeatures: wantedFeatures.filter((feature) => adapter.features.has(feature)),
    }),
  );
  return { device, software: isSoftware(adapter), adapter: facts };
}

/** A failure of the browser or the driver, as the reason why the backend is not available. */
async function orUnavailable<T>(what: string, attempt: () => Promise<T> | T): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    throw unavailable(
      `${what}: ${(error as Error).message}`,
      "Update the browser or the GPU's driver, or use the cpu backend.",
      error,
    );
  }
}

/** Facts about a caller's own GPUDevice. */
export function describeDevice(device: GPUDevice): OpenedGpu {
  const facts = textFields(device.adapterInfo ?? {});
  return { device, software: softwareName.test(Object.values(facts).join(" ")), adapter: facts };
}

/**
 * What a person would call the adapter. Dawn names the device in lower case with hyphens. Browsers often name none. Deno
 * gives PCI numbers as vendor and device, and the name as description.
 */
export function adapterName({ vendor, architecture, device, description }: Record<string, string>): string {
  const name = withoutNumber(device).replace(/-+/g, " ").trim() || description;
  return name || [withoutNumber(vendor), architecture].filter(Boolean).join(" ") || "unnamed GPU";
}

const withoutNumber = (text: string): string => (/^(0x[\da-f]+|\d+)$/i.test(text) ? "" : text);

async function findGpu(): Promise<GPU> {
  const fromBrowser = (globalThis.navigator as Navigator | undefined)?.gpu;
  if (fromBrowser) return fromBrowser;
  if (globalThis.process?.versions?.node === undefined) {
    throw unavailable(
      "this browser has no WebGPU (navigator.gpu is missing)",
      "Use a current browser, over https or on localhost.",
    );
  }
  const found = await orUnavailable("WebGPU does not load", async () => (await import("./dawn.js")).dawn());
  if ("reason" in found) throw unavailable(found.reason, found.fix, found.cause);
  return found;
}

async function findAdapter(gpu: GPU, request: GpuRequest): Promise<GPUAdapter> {
  const { software = false, powerPreference = "high-performance" } = request;
  const adapter = await orUnavailable("WebGPU finds no adapter", () =>
    gpu.requestAdapter({ powerPreference, forceFallbackAdapter: software }),
  );
  if (!adapter) {
    const what = software ? "no software GPU" : "no GPU";
    throw unavailable(
      `WebGPU finds ${what} on this machine`,
      software
        ? "Install SwiftShader or a recent llvmpipe and let VK_ICD_FILENAMES name it before the process starts."
        : "Install the GPU's Vulkan, Metal or Direct3D 12 driver, or use the cpu backend.",
    );
  }
  if (software || !isSoftware(adapter)) return adapter;
  throw unavailable(
    `the only GPU is a software one (${adapterName(adapterFacts(adapter))})`,
    "Ask for it with { software: true } (--software), or use the cpu backend.",
  );
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

function unavailable(reason: string, fix: string, cause?: unknown): BackendUnavailableError {
  const tried: TriedBackend[] = [{ backend: "webgpu", reason }];
  return new BackendUnavailableError("webgpu", tried, fix, { cause });
}
