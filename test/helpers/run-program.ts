/**
 * Runs a module as a Node process of its own: source text that imports `warpmap` and its subpaths, which are bundled from src/
 * once for all programs of this process.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "rolldown";
import { sourceTexts } from "../../scripts/build-plugins.mjs";

const root = resolve(import.meta.dirname, "../..");
/** Inside node_modules, so that programs find the package `webgpu`. */
const cache = join(root, "node_modules/.cache/warpmap");

/** What programs import, by the name behind `warpmap/`. */
const entries = {
  index: join(root, "src/index.ts"),
  io: join(root, "src/io/index.ts"),
  relational: join(root, "src/relational/index.ts"),
  sketches: join(root, "src/sketches/index.ts"),
  wgsl: join(root, "src/wgsl/index.ts"),
};

export interface ProgramResult {
  /** Exit status; null when it was ended because it ran past the limit. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let programs: Promise<string> | undefined;
let started = 0;

/**
 * @param limitMs the program is ended after so long.
 * @param beside files in the program's folder while it runs, by name: what it starts as workers.
 */
export async function runProgram(
  source: string,
  args: readonly string[] = [],
  limitMs = 30_000,
  beside: Readonly<Record<string, string>> = {},
): Promise<ProgramResult> {
  programs ??= makeFolder();
  const folder = await programs;
  const file = join(folder, `program-${started++}.mjs`);
  const files = [file, ...Object.keys(beside).map((name) => join(folder, name))];
  for (const [i, text] of [source, ...Object.values(beside)].entries()) writeFileSync(files[i], text);
  try {
    return await run([file, ...args], limitMs);
  } finally {
    for (const each of files) rmSync(each);
  }
}

/**
 * Runs programs one after the other in one process, and tells what each prints. What they leave behind must let the process
 * end.
 */
export async function runPrograms(sources: readonly string[]): Promise<ProgramResult[]> {
  const names = sources.map((_, i) => `one-of-many-${i}.mjs`);
  const beside = Object.fromEntries(names.map((name, i) => [name, sources[i]]));
  const all = await runProgram(RUN_ALL, names, 240_000, beside);
  if (all.status !== 0) throw new Error(`the programs ended with status ${all.status}: ${all.stderr}`);
  return JSON.parse(all.stdout);
}

const RUN_ALL = `
  const results = [];
  const write = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of process.argv.slice(2)) {
    const result = { status: 0, stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"]) process[stream].write = (text) => (result[stream] += text, true);
    try {
      await import("./" + name);
    } catch (error) {
      result.status = 1;
      result.stderr += error?.stack ?? error;
    }
    results.push(result);
  }
  for (const stream of ["stdout", "stderr"]) process[stream].write = write[stream];
  process.stdout.write(JSON.stringify(results));`;

/** This process's folder for programs, where the package `warpmap` is the bundle. */
async function makeFolder(): Promise<string> {
  const folder = join(cache, `programs-${process.pid}`);
  const dir = join(folder, "node_modules/warpmap");
  mkdirSync(dir, { recursive: true });
  removeAbandoned();
  await build({
    cwd: root,
    input: entries,
    platform: "node",
    // Node's modules and other packages, but for what rolldown's transform brings along
    external: (id) => /^[@a-z]/.test(id) && !id.startsWith("@oxc-project/"),
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    // as in dist
    transform: { target: "es2022" },
    plugins: [sourceTexts({ strip: true })],
    output: { dir, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
    logLevel: "silent",
  });
  const names = Object.keys(entries).map((name) => [name === "index" ? "." : `./${name}`, `./${name}.mjs`]);
  writeFileSync(join(dir, "package.json"), JSON.stringify({ exports: Object.fromEntries(names) }));
  return folder;
}

/** Removes folders of processes that have ended: nothing tells a test's process when it is about to. */
function removeAbandoned(): void {
  for (const name of readdirSync(cache)) {
    const pid = Number(/^programs-(\d+)$/.exec(name)?.[1]);
    if (pid > 0 && !isRunning(pid)) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
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
