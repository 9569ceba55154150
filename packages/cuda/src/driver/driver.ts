/**
 * The NVIDIA driver of this machine: found, loaded and initialised once a process. Says precisely why there is none.
 */
import { BackendUnavailableError } from "warpmap/engine";
import { Attribute, type Ffi, loadLibrary, Result } from "./ffi.js";

/** What CUDA 13, whose compiler makes the kernels, asks of a driver. */
const LEAST_CUDA = 13000;
const LEAST_DRIVER = "580";

export interface Driver extends Ffi {
  /** Path or name of its library, for other threads. */
  readonly library: string;
  /** The latest version of CUDA that it knows, as "13.0". */
  readonly cuda: string;
}

let found: Promise<Driver> | undefined;

/** The driver. What failed is tried again by the next call. @throws BackendUnavailableError */
export function openDriver(): Promise<Driver> {
  found ??= load().catch((error) => {
    found = undefined;
    throw error;
  });
  return found;
}

async function load(): Promise<Driver> {
  const library = libraryName();
  const ffi = await ffiOf(library);
  const { api } = ffi;
  const initialised = await ffi.aside("cuInit", 0);
  if (initialised === Result.NO_DEVICE) throw noGpu();
  if (initialised !== Result.SUCCESS) {
    throw unavailable(
      `the NVIDIA driver does not start (${describe(ffi, initialised)})`,
      "See whether `nvidia-smi` runs here; in a container start it with --gpus all (docs/nvidia-servers.md).",
    );
  }
  const version = readNumber((into) => api.cuDriverGetVersion(into));
  if (version < LEAST_CUDA) {
    throw unavailable(
      `the NVIDIA driver knows CUDA ${versionText(version)}, and the kernels need CUDA ${versionText(LEAST_CUDA)}`,
      `Install driver ${LEAST_DRIVER} or later (\`nvidia-smi\` names the one that is there), or use the webgpu backend.`,
    );
  }
  return { ...ffi, library, cuda: versionText(version) };
}

/** GPUs that this process may use. @throws BackendUnavailableError when there is none */
export function gpuCount({ api }: Driver): number {
  const gpus = readNumber((into) => api.cuDeviceGetCount(into));
  if (gpus === 0) throw noGpu();
  return gpus;
}

/** Where tests, and unusual systems, have the library. */
function libraryName(): string {
  const { env, platform } = process;
  return env.WARPMAP_CUDA_DRIVER || (platform === "win32" ? "nvcuda.dll" : "libcuda.so.1");
}

async function ffiOf(library: string): Promise<Ffi> {
  const { default: koffi } = await import("koffi").catch((cause) => {
    const fix = "Run `npm install warpmap-cuda` again on this machine, or use the webgpu or cpu backend.";
    throw unavailable(`koffi, which calls the driver, does not load: ${cause.message}`, fix, cause);
  });
  try {
    return loadLibrary(koffi, library);
  } catch (cause) {
    throw unavailable(
      `there is no NVIDIA driver with CUDA here (${library}: ${(cause as Error).message})`,
      `Install driver ${LEAST_DRIVER} or later; in a container start it with --gpus all (docs/nvidia-servers.md).`,
      cause,
    );
  }
}

const noGpu = () =>
  unavailable(
    "the NVIDIA driver finds no GPU that this process may use",
    "Check CUDA_VISIBLE_DEVICES, and in a container the option --gpus.",
  );

export function unavailable(reason: string, fix: string, cause?: unknown): BackendUnavailableError {
  return new BackendUnavailableError("cuda", [{ backend: "cuda", reason }], fix, { cause });
}

export interface GpuFacts {
  readonly name: string;
  /** Bytes. */
  readonly memory: number;
  /** As "9.0". */
  readonly capability: string;
  readonly multiprocessors: number;
  /** Bytes of shared memory that a kernel may ask for: 99 to 227 KiB, by capability. */
  readonly sharedMemory: number;
  /** Kernels take the host's address of pinned memory. */
  readonly readsHost: boolean;
  /** The stand-in for tests (emulator/): no GPU. */
  readonly isEmulated: boolean;
}

/** What the driver says of a GPU. */
export function describeGpu({ api }: Driver, device: number): GpuFacts {
  const bytes = new Uint8Array(256);
  api.cuDeviceGetName(bytes, bytes.length, device);
  const name = new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  const attribute = (which: number) => readNumber((into) => api.cuDeviceGetAttribute(into, which, device));
  return {
    name,
    memory: readNumber((into) => api.cuDeviceTotalMem_v2(into, device)),
    capability: `${attribute(Attribute.CAPABILITY_MAJOR)}.${attribute(Attribute.CAPABILITY_MINOR)}`,
    multiprocessors: attribute(Attribute.MULTIPROCESSORS),
    sharedMemory: attribute(Attribute.SHARED_MEMORY_OF_BLOCK_OPTIN),
    readsHost: attribute(Attribute.CAN_USE_HOST_POINTER) === 1,
    isEmulated: name.startsWith("Emulated"),
  };
}

/** A version as the driver counts them: 13000 is "13.0". */
const versionText = (version: number) => `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;

/** What a function writes: a number of 32 or 64 bits, a handle, an address. */
export function readNumber(call: (into: BigUint64Array) => unknown): number {
  const into = new BigUint64Array(1);
  call(into);
  return Number(into[0]);
}

/** A result in words: "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered". */
export function describe({ api, textAt }: Ffi, result: number): string {
  return [api.cuGetErrorName, api.cuGetErrorString]
    .map((ask) => textAt(readNumber((into) => ask(result, into))))
    .join(": ");
}
