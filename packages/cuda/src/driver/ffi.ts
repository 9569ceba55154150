/**
 * The CUDA driver API, as far as it is used: the one file that names C functions. Every function answers a CUresult.
 * Handles and addresses are numbers (the driver's lie below 2^53); memory of the host is an address, or a typed array
 * that the driver is done with when the call returns.
 */
const C_TYPES = {
  int: "int",
  uint: "uint32_t",
  size: "uint64_t",
  memory: "void *",
  text: "const char *",
} as const;

interface Arguments {
  int: number;
  uint: number;
  /** Sizes, handles, addresses of either side. */
  size: number;
  /** Memory of the host for the time of the call: read, or written with what the function answers. */
  memory: ArrayBufferView | null;
  text: string;
}

export const FUNCTIONS = {
  cuInit: ["uint"],
  cuDriverGetVersion: ["memory"],
  cuGetErrorName: ["int", "memory"],
  cuGetErrorString: ["int", "memory"],
  cuDeviceGetCount: ["memory"],
  cuDeviceGet: ["memory", "int"],
  cuDeviceGetName: ["memory", "int", "int"],
  cuDeviceGetAttribute: ["memory", "int", "int"],
  cuDeviceTotalMem_v2: ["memory", "int"],
  cuDevicePrimaryCtxRetain: ["memory", "int"],
  cuDevicePrimaryCtxRelease_v2: ["int"],
  cuDevicePrimaryCtxReset_v2: ["int"],
  cuDeviceCanAccessPeer: ["memory", "int", "int"],
  cuDeviceGetDefaultMemPool: ["memory", "int"],
  cuCtxSetCurrent: ["size"],
  cuCtxEnablePeerAccess: ["size", "uint"],
  cuStreamCreateWithPriority: ["memory", "uint", "int"],
  cuStreamDestroy_v2: ["size"],
  cuStreamSynchronize: ["size"],
  cuStreamWaitEvent: ["size", "size", "uint"],
  cuEventCreate: ["memory", "uint"],
  cuEventDestroy_v2: ["size"],
  cuEventRecord: ["size", "size"],
  cuEventQuery: ["size"],
  cuEventElapsedTime: ["memory", "size", "size"],
  cuMemAllocAsync: ["memory", "size", "size"],
  cuMemFreeAsync: ["size", "size"],
  cuMemPoolSetAccess: ["size", "memory", "size"],
  cuMemHostRegister_v2: ["size", "size", "uint"],
  cuMemHostUnregister: ["size"],
  cuMemcpyAsync: ["size", "size", "size", "size"],
  cuMemcpyPeerAsync: ["size", "size", "size", "size", "size", "size"],
  cuMemcpyHtoDAsync_v2: ["size", "memory", "size", "size"],
  cuMemsetD8Async: ["size", "uint", "size", "size"],
  cuPointerGetAttribute: ["memory", "int", "size"],
  cuModuleLoadData: ["memory", "memory"],
  cuModuleUnload: ["size"],
  cuModuleGetFunction: ["memory", "size", "text"],
  cuFuncSetAttribute: ["size", "int", "int"],
  cuLaunchKernel: [
    "size",
    ...(["uint", "uint", "uint"] as const),
    ...(["uint", "uint", "uint"] as const),
    "uint",
    "size",
    "memory",
    "memory",
  ],
} as const satisfies { readonly [name: string]: readonly (keyof Arguments)[] };

type Functions = typeof FUNCTIONS;
type ArgumentsOf<L extends readonly (keyof Arguments)[]> = { [I in keyof L]: Arguments[L[I]] };

export type DriverApi = {
  readonly [N in keyof Functions]: (...args: ArgumentsOf<Functions[N]>) => number;
};

/** A loaded library, and the memory that its addresses name. */
export interface Ffi {
  readonly api: DriverApi;
  /** Calls a function on another thread. */
  aside<N extends keyof Functions>(name: N, ...args: ArgumentsOf<Functions[N]>): Promise<number>;
  /** The address of an array's memory, which stays where it is for as long as the array lives. */
  addressOf(array: ArrayBufferView): number;
  /** The text at an address; empty at 0. */
  textAt(address: number): string;
}

/** Loads a library. @throws Error when it is not there, or lacks a function */
export function loadLibrary(
  koffi: Pick<typeof import("koffi"), "load" | "address" | "decode">,
  path: string,
): Ffi {
  const library = koffi.load(path);
  const declare = ([name, kinds]: [string, readonly (keyof Arguments)[]]) =>
    [
      name,
      library.func(
        name,
        "int",
        kinds.map((kind) => C_TYPES[kind]),
      ),
    ] as const;
  const functions = Object.fromEntries(
    Object.entries(FUNCTIONS).map((entry) => declare(entry as never)),
  ) as unknown as { readonly [N in keyof Functions]: ReturnType<ReturnType<typeof koffi.load>["func"]> };
  return {
    api: functions as unknown as DriverApi,
    aside: (name, ...args) =>
      new Promise((resolve, reject) => {
        functions[name].async(...args, (error: unknown, result: number) =>
          error ? reject(error) : resolve(result),
        );
      }),
    addressOf: (array) => Number(koffi.address(array)),
    textAt: (address) => (address === 0 ? "" : koffi.decode(BigInt(address), "char", -1)),
  };
}

/** Values of CUresult. */
export const Result = {
  SUCCESS: 0,
  OUT_OF_MEMORY: 2,
  NO_DEVICE: 100,
  NOT_READY: 600,
  PEER_ACCESS_ALREADY_ENABLED: 704,
} as const;

/**
 * Results that say that the context is of no more use: shut down (4), gone (46, 709), errors of the memory (214, 220),
 * and what kernels that fault leave behind, as an illegal address (700), a timeout, an assertion, or nothing better
 * known (999).
 */
export const FAULTS: readonly number[] = [
  4, 46, 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999,
];

/** Results that say that two GPUs have no way to each other: unsupported (217), or too many have one (711). */
export const NO_PEERS: readonly number[] = [217, 711];

/** Numbers of CUdevice_attribute. */
export const Attribute = {
  MULTIPROCESSORS: 16,
  CAPABILITY_MAJOR: 75,
  CAPABILITY_MINOR: 76,
  CAN_USE_HOST_POINTER: 91,
  SHARED_MEMORY_OF_BLOCK_OPTIN: 97,
} as const;

/** Numbers of CUpointer_attribute. */
export const PointerAttribute = {
  MEMORY_TYPE: 2,
  DEVICE_ORDINAL: 9,
  RANGE_START: 11,
  RANGE_SIZE: 12,
} as const;
/** Of CUmemorytype: memory of the host, which the driver knows. */
export const MEMORY_TYPE_HOST = 1;

/** Of CUmemAccessDesc: memory on a device, which another reads and writes. */
export const LOCATION_DEVICE = 1;
export const ACCESS_READ_WRITE = 3;

/** Of cuMemHostRegister: for all contexts. */
export const REGISTER_PORTABLE = 1;

/** Flags of cuStreamCreateWithPriority and cuEventCreate. */
export const STREAM_NON_BLOCKING = 1;
export const EVENT_BLOCKING_SYNC = 1;
export const EVENT_DISABLE_TIMING = 2;
