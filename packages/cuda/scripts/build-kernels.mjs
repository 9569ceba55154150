// Builds the kernels by nvcc into one fat binary: node build-kernels.mjs [output]; with --check it only sees whether
// they compile, and the example of users' kernels, to PTX, which takes seconds in place of minutes. Machine code for sm_80, 90, 100 and
// 120, and PTX of compute_80 for what comes after and lies between. Architectures are compiled side by
// side, as many at once as there are processors. Without nvcc it says what is left out, and succeeds.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ARCHITECTURES = [80, 90, 100, 120];
const PTX = 80;
const root = fileURLToPath(new URL("..", import.meta.url));
const [argument] = process.argv.slice(2);
const checksOnly = argument === "--check";
const output = (checksOnly ? undefined : argument) ?? join(root, "dist", "kernels.fatbin");
const nvcc = process.env.NVCC ?? "nvcc";

/** Compiles kernels for an architecture, to machine code or PTX. Answers the image as fatbinary takes it. */
async function compile(folder, kind, architecture, source = "kernels/all.cu", options = []) {
  const to = join(folder, `${kind}-${architecture}`);
  const target =
    kind === "ptx" ? ["-ptx", `-arch=compute_${architecture}`] : ["-cubin", `-arch=sm_${architecture}`];
  const includes = ["-I", join(root, "kernels")];
  await run(nvcc, ["-std=c++17", "-O3", ...options, ...target, ...includes, "-o", to, join(root, source)]);
  return `--image3=kind=${kind},sm=${architecture},file=${to}`;
}

async function build() {
  const folder = mkdtempSync(join(tmpdir(), "warpmap-kernels-"));
  try {
    if (checksOnly) {
      for (const source of ["kernels/all.cu", "examples/own-kernels.cu"])
        await compile(folder, "ptx", PTX, source, ["-Ofc", "max"]);
      return;
    }
    const work = [["ptx", PTX], ...ARCHITECTURES.map((architecture) => ["elf", architecture])];
    const images = [];
    const next = async () => {
      for (let job = work.shift(); job; job = work.shift()) images.push(await compile(folder, ...job));
    };
    await Promise.all(Array.from({ length: availableParallelism() }, next));
    mkdirSync(dirname(output), { recursive: true });
    // drivers that run code of this compiler know the mode for size
    const how = ["--64", "--compress-all", "--compress-mode=size"];
    await run("fatbinary", [...how, `--create=${output}`, ...images]);
    console.log(`${output}: ${Math.ceil(statSync(output).size / 1024)} KiB`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const hasCompiler = await run(nvcc, ["--version"]).then(
  () => true,
  () => false,
);
if (hasCompiler) await build();
else console.log("warpmap-cuda: no nvcc, so the kernels are not built; the rest is.");
