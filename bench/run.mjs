// npm run bench: runs a benchmark from its TypeScript source, without a build of dist, as `warpmap bench` runs those of the package.
//
//   npm run bench -- NAME [--device auto|webgpu|cuda|cpu] [--software] [--threads N] [--size N] [--runs N] [--sweep WHAT]
//                         [--multiplicity N] [--json FILE] [--svg FILE]
//
// NAME is a file of this folder that exports run(): gups, static-map, join-vs-duckdb, … Some need development dependencies, such as DuckDB.
// On a software GPU: npm run with-software-gpu -- node bench/run.mjs ...
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundle, bundleLibrary } from "./bundle.mjs";

const folder = dirname(fileURLToPath(import.meta.url));

const { name, options } = parseCall();
const { asCallError, bench, fail, module } = await bundle(
  name,
  `export { asCallError } from ${JSON.stringify(join(folder, "../src/cli/bench-call.ts"))};
export { bench } from ${JSON.stringify(join(folder, "../src/cli/bench.ts"))};
export { fail } from ${JSON.stringify(join(folder, "../src/cli/failure.ts"))};
export * as module from ${JSON.stringify(join(folder, `${name}.ts`))};`,
  options.device.startsWith("cuda"),
);
const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
const { stdin, stdout, stderr, env } = process;
const host = { stdin, stdout, stderr, env, signal: interrupt.signal };
try {
  await bench(name, options, host, { load: async () => module, library: bundleLibrary });
} catch (error) {
  process.exitCode = fail(asCallError(error), host, "bench");
}

function parseCall() {
  const text = { type: "string" };
  try {
    const { values: options, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        device: { ...text, default: "auto" },
        software: { type: "boolean" },
        threads: text,
        size: text,
        runs: text,
        sweep: text,
        multiplicity: text,
        json: text,
        svg: text,
      },
    });
    const [name] = positionals;
    if (positionals.length === 1 && names().includes(name)) return { name, options };
  } catch (error) {
    if (!error.code?.startsWith("ERR_PARSE_ARGS")) throw error;
    console.error(error.message);
  }
  console.error(
    "usage: npm run bench -- NAME [--device D] [--software] [--threads N] [--size N] [--runs N] [--sweep WHAT] [--multiplicity N] [--json FILE] [--svg FILE]",
  );
  console.error(`NAME is one of: ${names().join(", ")}.`);
  process.exit(2);
}

function names() {
  const modules = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  const runnable = modules.filter((file) =>
    /^export async function run\(/m.test(readFileSync(join(folder, file), "utf8")),
  );
  return runnable.map((file) => file.slice(0, -".ts".length));
}
