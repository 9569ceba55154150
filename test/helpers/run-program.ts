/** Runs a module as a Node process of its own: source text that imports `warpmap` and its subpaths, bundled from src/. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "rolldown";
import { sourceTexts } from "../../scripts/build-plugins.mjs";

const root = resolve(import.meta.dirname, "../..");
const ENTRY = "\0program";
/** Inside node_modules, so that the program finds the package `webgpu`. */
const cache = join(root, "node_modules/.cache/warpmap");

export interface ProgramResult {
  /** Exit status; null when it was ended because it ran past the limit. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param limitMs the program is ended after so long. */
export async function runProgram(
  source: string,
  args: readonly string[] = [],
  limitMs = 30_000,
): Promise<ProgramResult> {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "program-"));
  try {
    await bundle(source, folder);
    return await run([join(folder, "program.mjs"), ...args], limitMs);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function bundle(source: string, dir: string): Promise<void> {
  await build({
    cwd: root,
    input: { program: ENTRY },
    platform: "node",
    // Node's modules and other packages; the program's folder is one that finds them
    external: (id) => id.startsWith("node:") || (/^[@a-z]/.test(id) && id.split("/")[0] !== "warpmap"),
    resolve: {
      alias: {
        "warpmap/relational": join(root, "src/relational/index.ts"),
        "warpmap/sketches": join(root, "src/sketches/index.ts"),
        "warpmap/wgsl": join(root, "src/wgsl/index.ts"),
        warpmap: join(root, "src/index.ts"),
      },
      extensionAlias: { ".js": [".ts", ".js"] },
    },
    plugins: [
      sourceTexts({ strip: true }), // as in dist
      {
        name: "entry",
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? source : null),
      },
    ],
    output: { dir, format: "esm", entryFileNames: "[name].mjs" },
    logLevel: "silent",
  });
}

function run(args: readonly string[], limitMs: number): Promise<ProgramResult> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, args, { cwd: root, timeout: limitMs, killSignal: "SIGKILL" });
    const output = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        output[stream] += text;
      });
    }
    child.on("error", fail);
    child.on("close", (status) => done({ status, ...output }));
  });
}
