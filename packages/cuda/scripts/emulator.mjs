// The stand-in for the driver in tests (emulator/): where it is, and what a process needs to run on it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What build-emulator.mjs makes. */
export const emulator = fileURLToPath(new URL("../dist/emulator/libcuda.so.1", import.meta.url));

/** The environment of a process that has it in place of a driver, and of a fat binary, which it does not read. */
export function emulatedGpuEnv() {
  // events take a moment, so that other work of the process gets its turn as it does beside a GPU
  return { WARPMAP_CUDA_DRIVER: emulator, WARPMAP_CUDA_KERNELS: emulator, WARPMAP_EMULATOR_WAIT: "30" };
}

/** Builds it where g++ is there; else says what is left out, in one line. @returns whether it was built */
export function buildEmulator() {
  if (spawnSync("g++", ["--version"]).status !== 0) {
    console.log("no g++: the tests of warpmap-cuda, which run on a stand-in for the driver, are left out");
    return false;
  }
  const script = fileURLToPath(new URL("build-emulator.mjs", import.meta.url));
  return spawnSync(process.execPath, [script], { stdio: "inherit" }).status === 0;
}
