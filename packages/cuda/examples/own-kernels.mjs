// A live StaticMap in CUDA kernels of your own: views of pages are counted by the kernel that makes them, on the GPU.
//
//   node packages/cuda/examples/own-kernels.mjs            needs an NVIDIA GPU and nvcc on the PATH
//   node packages/cuda/examples/own-kernels.mjs IMAGE      with own-kernels.cu compiled before, by nvcc or NVRTC
//
// nvcc compiles own-kernels.cu for this GPU; koffi, which warpmap-cuda brings, calls the driver. The pages that are
// looked up lie in memory that this program allocates by the driver itself, as another library would.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import koffi from "koffi";
import { openDevice, StaticMap } from "warpmap";
import { includePath, tableArguments } from "warpmap-cuda/device";

const VIEWS = 5_000_000;
const PAGES = 100_000;
const OFTEN = 100;
const RARE = 30;

const device = await openDevice({ backend: "cuda" });
const { capability, gpu } = device.info.hardware;
console.log(device.info.reason);

// ---- the driver: kernels and memory are of the GPU's primary context, as those of warpmap
const library = koffi.load(process.env.WARPMAP_CUDA_DRIVER ?? "libcuda.so.1");
const driver = (name, ...types) => {
  const call = library.func(name, "int", types);
  return (...args) => {
    const result = call(...args);
    if (result !== 0) throw new Error(`${name} answers CUresult ${result}`);
  };
};
/** The number that a function writes. */
const read = (call, ...args) => {
  const into = new BigUint64Array(1);
  call(into, ...args);
  return into[0];
};
const [pointer, address, bytes, uint] = ["void *", "uint64_t", "size_t", "uint"];
read(driver("cuDevicePrimaryCtxRetain", pointer, "int"), Number(gpu)); // released when the process ends
const cuMemAlloc = driver("cuMemAlloc_v2", pointer, bytes);
const cuMemFree = driver("cuMemFree_v2", address);
const cuMemcpyHtoD = driver("cuMemcpyHtoD_v2", address, pointer, bytes);
const cuCtxSynchronize = driver("cuCtxSynchronize");
const cuModuleLoadData = driver("cuModuleLoadData", pointer, pointer);
const cuModuleGetFunction = driver("cuModuleGetFunction", pointer, address, "const char *");
const grid = [uint, uint, uint];
const cuLaunchKernel = driver("cuLaunchKernel", address, ...grid, ...grid, uint, address, pointer, pointer);

const module = read(cuModuleLoadData, kernels());
/** Launches a kernel on a stream, with parameters as typed arrays of their bytes. */
function launch(name, threads, stream, parameters) {
  const kernel = read(cuModuleGetFunction, module, name);
  const addresses = BigUint64Array.from(parameters, (parameter) => BigInt(koffi.address(parameter)));
  cuLaunchKernel(kernel, Math.ceil(threads / 256), 1, 1, 256, 1, 1, 0, stream, addresses, null);
}

// ---- kernels on a live table
const counts = await StaticMap.create(device, { key: "u32", value: "u32", capacity: PAGES });
const table = tableArguments(counts, { access: "read_write" }); // its type is warpmap::Table<1, 1>
const { stream } = table;

const rejected = await device.upload(Uint32Array.of(0));
const addresses = ({ pointer }) => BigUint64Array.of(pointer);
launch("addViews", VIEWS, stream, [
  table.bytes(),
  Uint32Array.of(VIEWS),
  Uint32Array.of(PAGES),
  addresses(rejected),
]);
await table.sync();
console.log(`${VIEWS} views are of ${counts.size} pages; ${(await rejected.read())[0]} found no room`);

const often = await device.upload(Uint32Array.of(0));
launch("countAbove", counts.slots, stream, [table.bytes(), Uint32Array.of(OFTEN), addresses(often)]);
console.log(`${(await often.read())[0]} pages have more than ${OFTEN} views`);

// ---- memory of others: the pages 1, 2, 3 … as a device array
const pages = Uint32Array.from({ length: PAGES }, (_, i) => i + 1);
const memory = read(cuMemAlloc, pages.byteLength);
cuMemcpyHtoD(memory, pages, pages.byteLength);
cuCtxSynchronize(); // the copy is not on warpmap's stream, so it must be done before a call uses it
const listed = device.wrap({ pointer: memory, byteLength: pages.byteLength, type: "u32" });
const before = await counts.find(listed);

launch("eraseRare", PAGES, stream, [
  table.bytes(),
  addresses(listed),
  Uint32Array.of(PAGES),
  Uint32Array.of(RARE),
]);
const after = await counts.contains(listed); // sees what kernels did
console.log(`${counts.size} pages have more than ${RARE} views`);

// ---- the same here
const expected = new Uint32Array(PAGES + 1);
for (let i = 0; i < VIEWS; i++) {
  const scattered = BigInt(Math.imul(i, 2654435761) >>> 0);
  expected[Number((((scattered * scattered) >> 32n) * BigInt(PAGES)) >> 32n)]++;
}
const isRight = (page, i) =>
  before.values[i] === expected[page] && after[i] === Number(expected[page] > RARE);
if (!pages.every(isRight)) throw new Error("the kernels' counts differ from those counted here");
console.log("as counted here");
cuMemFree(memory);
device.destroy();

/** The compiled kernels. */
function kernels() {
  const [, , image] = process.argv;
  if (image) return readFileSync(image);
  const folder = mkdtempSync(join(tmpdir(), "own-kernels-"));
  try {
    const source = fileURLToPath(new URL("own-kernels.cu", import.meta.url));
    const made = join(folder, "own-kernels.cubin");
    const target = ["-cubin", `-arch=sm_${capability.replace(".", "")}`];
    execFileSync("nvcc", ["-std=c++17", "-O3", ...target, "-I", includePath, source, "-o", made]);
    return readFileSync(made);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
