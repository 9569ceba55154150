/** What users' programs do with the driver, through koffi: kernels of test/users-kernels.cu, and memory of their own. */
import koffi from "koffi";

const library = koffi.load(process.env.WARPMAP_CUDA_DRIVER as string);
const of = (name: string, ...types: string[]) => {
  const call = library.func(name, "int", types);
  return (...args: unknown[]) => {
    const result = call(...args);
    if (result !== 0) throw new Error(`${name} answers ${result}`);
  };
};
const grid = ["uint", "uint", "uint"];
const cuModuleLoadData = of("cuModuleLoadData", "void *", "void *");
const cuModuleGetFunction = of("cuModuleGetFunction", "void *", "uint64_t", "const char *");
const cuLaunchKernel = of(
  "cuLaunchKernel",
  "uint64_t",
  ...[...grid, ...grid, "uint", "uint64_t"],
  ...["void *", "void *"],
);
const cuMemAlloc = of("cuMemAlloc_v2", "void *", "size_t");
const cuMemAllocHost = of("cuMemAllocHost_v2", "void *", "size_t");
const cuMemcpyHtoD = of("cuMemcpyHtoD_v2", "uint64_t", "void *", "size_t");
const cuMemcpyDtoH = of("cuMemcpyDtoH_v2", "void *", "uint64_t", "size_t");

function read(call: (...args: unknown[]) => void, ...args: unknown[]): bigint {
  const into = new BigUint64Array(1);
  call(into, ...args);
  return into[0];
}

/** A parameter: the bytes of a struct or a number, or an address. */
type Parameter = ArrayBufferView | bigint;

/** Launches a kernel with so many threads. */
export function launch(
  name: string,
  threads: number,
  stream: bigint,
  parameters: readonly Parameter[],
): void {
  const module = read(cuModuleLoadData, new Uint8Array(1));
  const kernel = read(cuModuleGetFunction, module, name);
  const bytes = parameters.map((each) => (typeof each === "bigint" ? BigUint64Array.of(each) : each));
  const addresses = BigUint64Array.from(bytes, (each) => BigInt(koffi.address(each)));
  cuLaunchKernel(kernel, Math.ceil(threads / 64), 1, 1, 64, 1, 1, 0, stream, addresses, null);
}

/** Memory of the GPU, or of the host, that nobody frees. */
export const foreign = (bytes: number): bigint => read(cuMemAlloc, bytes);
export const foreignHost = (bytes: number): bigint => read(cuMemAllocHost, bytes);

export const toGpu = (at: bigint, data: ArrayBufferView): void => cuMemcpyHtoD(at, data, data.byteLength);
export const fromGpu = (at: bigint, into: ArrayBufferView): void => cuMemcpyDtoH(into, at, into.byteLength);
