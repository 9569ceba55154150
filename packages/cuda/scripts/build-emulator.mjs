// Builds the stand-in for the driver library (emulator/) by g++: node build-emulator.mjs [output] [g++ options …]. It
// has the kernels of kernels/all.cu, and those of test/users-kernels.cu, so that tests run on machines without a GPU.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [output = join(root, "dist", "emulator", "libcuda.so.1"), ...options] = process.argv.slice(2);
mkdirSync(dirname(output), { recursive: true });
const emulator = join(root, "emulator");
const files = readdirSync(emulator).filter((name) => name.endsWith(".cpp"));
const kernels = ["kernels/all.cu", "test/users-kernels.cu"].map((name) => join(root, name));
const sources = ["-x", "c++", ...kernels, ...files.map((name) => join(emulator, name))];
const includes = ["-I", emulator, "-I", join(root, "kernels")];
const shared = [
  "-std=c++17",
  "-O2",
  "-fno-strict-aliasing",
  "-fPIC",
  "-shared",
  "-pthread",
  "-Wno-attributes",
  "-Wl,-Bsymbolic-functions",
  // shared memory of blocks is memory of OS threads: less to do for each use
  ...(process.arch === "x64" ? ["-mtls-dialect=gnu2"] : []),
];
execFileSync("g++", [...shared, ...options, ...includes, ...sources, "-o", output, "-ldl"], {
  stdio: "inherit",
});
