// A software GPU from npm alone: SwiftShader (a Vulkan driver that runs on the CPU) and a headless Chromium, both out of
// the archives in @sparticuz/chromium, unpacked once into node_modules/.cache/warpmap.
//
//   node scripts/software-gpu.mjs COMMAND [ARGS...]    runs COMMAND where the package `webgpu` finds SwiftShader
//
// The Vulkan loader and the dynamic linker read the environment when a process starts, so its parent has to set it.
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

/** The archives hold programs for this platform only. */
const HAS_ARCHIVES = process.platform === "linux" && process.arch === "x64";

const CACHE = resolve(dirname(fileURLToPath(import.meta.url)), "../node_modules/.cache/warpmap");

/** WebGPU on SwiftShader, and no requests of the browser's own. */
const BROWSER_ARGS = [
  "--headless=new",
  "--no-sandbox",
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension", // see device/dawn.ts
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
  "--no-first-run",
];

/**
 * Unpacks SwiftShader, unless that was done before.
 * @returns the variables with which a new process finds it. None where there is no archive for the platform; the package
 * `webgpu` then runs on the platform's own WebGPU.
 */
export function softwareGpuEnv() {
  if (!HAS_ARCHIVES) return {};
  const folder = unpackOnce("swiftshader", ["swiftshader.tar.br"]);
  const icd = join(folder, "vk_swiftshader_icd.json");
  return {
    LD_LIBRARY_PATH: searchPath(folder),
    VK_ICD_FILENAMES: icd,
    VK_DRIVER_FILES: icd,
  };
}

/**
 * Unpacks Chromium, unless that was done before.
 * @returns launch options (Playwright's) with which it has WebGPU on SwiftShader. Where there is no archive for the
 * platform they name the Chrome that is installed on it.
 */
export function softwareBrowser() {
  if (!HAS_ARCHIVES) return { channel: "chrome", args: BROWSER_ARGS };
  const folder = unpackOnce("chromium", ["chromium.br", "swiftshader.tar.br", "al2023.tar.br"]);
  return {
    executablePath: join(folder, "chromium"),
    env: { ...process.env, LD_LIBRARY_PATH: searchPath(join(folder, "lib")) },
    args: BROWSER_ARGS,
  };
}

/** The system libraries that the Chromium of {@link softwareBrowser} needs and this machine lacks, by file name. */
export function missingBrowserLibraries() {
  const { executablePath, env } = softwareBrowser();
  if (executablePath === undefined) return [];
  try {
    const report = execFileSync("ldd", [executablePath], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return [...new Set(Array.from(report.matchAll(/^\s*(\S+) => not found/gm), (match) => match[1]))];
  } catch {
    return []; // no ldd, or not this libc: the browser's own message at the start will say so
  }
}

/** One line for people: which GPU the tests run on. */
export function describeSoftwareGpu() {
  return HAS_ARCHIVES
    ? "software GPU: SwiftShader, from @sparticuz/chromium"
    : `no software GPU on npm for ${process.platform} ${process.arch}: using the platform's own WebGPU`;
}

/** Puts a folder in front of what the dynamic linker searches. */
function searchPath(folder) {
  const inherited = (process.env.LD_LIBRARY_PATH ?? "")
    .split(":")
    .filter((path) => path !== "" && path !== folder);
  return [folder, ...inherited].join(":");
}

/** Processes may do this at the same time: each unpacks into a folder of its own, and the first to finish names it. */
function unpackOnce(name, archives) {
  const require = createRequire(import.meta.url);
  const bin = resolve(dirname(require.resolve("@sparticuz/chromium")), "../../bin");
  const { version } = JSON.parse(readFileSync(join(bin, "../package.json"), "utf8"));
  const folder = join(CACHE, `${name}-${version}`);
  if (existsSync(folder)) return folder;

  mkdirSync(CACHE, { recursive: true });
  const unfinished = mkdtempSync(join(CACHE, "unpacking-"));
  try {
    for (const archive of archives) {
      const content = brotliDecompressSync(readFileSync(join(bin, archive)));
      if (archive.endsWith(".tar.br")) {
        execFileSync("tar", ["-xf", "-", "--no-same-owner", "-C", unfinished], { input: content });
      } else {
        writeFileSync(join(unfinished, archive.slice(0, -".br".length)), content, { mode: 0o755 });
      }
    }
    chmodSync(unfinished, 0o755);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function main() {
  const [command, ...args] = process.argv.slice(process.argv[2] === "--" ? 3 : 2);
  if (command === undefined) {
    console.error("usage: node scripts/software-gpu.mjs COMMAND [ARGS...]");
    process.exit(2);
  }
  console.error(describeSoftwareGpu());
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...softwareGpuEnv() } });
  child.on("error", (error) => {
    console.error(`${command}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
