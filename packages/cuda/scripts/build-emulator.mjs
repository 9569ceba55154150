// Builds the stand-in for the driver library (emulator/) by g++: node build-emulator.mjs [output] [g++ options …]. It
// has the kernels of kernels/all.cu, so that tests of the engine run on machines without a GPU.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [output = join(root, "dist", "emulator", "libcuda.so.1"), ...options] = process.argv.slice(2);
mkdirSync(dirname(output), { recursive: true });
const emulator = join(root, "emulator");
const files = readdirSync(emulator).filter((name) => name.endsWith(".cpp"));
const sources = ["-x", "c++", join(root, "kernels/all.cu"), ...files.map((name) => join(emulator, name))];
const includes = ["-I", emulator];
const shared = [
  "-std=c++17",
  "-O2",
  "-fno-strict-aliasing",
  "-fPIC",
  "-shared",
  "-pthread",
  "-Wno-attributes",
];
execFileSync("g++", [...shared, ...options, ...includes, ...sources, "-o", output, "-ldl"], {
  stdio: "inherit",
});
