// Runs a benchmark from its TypeScript source, without a build of dist:
//
//   node bench/run.mjs NAME [--device auto|webgpu|cpu] [--software] [--threads N] [--size N] [--runs N] [--sweep WHAT]
//                           [--multiplicity N] [--json FILE] [--svg FILE]
//
// NAME is a file of this folder that exports run(): gups, static-map, join-vs-duckdb, … `warpmap bench` shows reports better; it has no
// benchmark that needs a development dependency, such as DuckDB. On a software GPU: npm run with-software-gpu -- node bench/run.mjs ...
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundle, bundleLibrary } from "./bundle.mjs";

const bench = dirname(fileURLToPath(import.meta.url));

const USAGE =
  "usage: node bench/run.mjs NAME [--device D] [--software] [--threads N] [--size N] [--runs N] [--sweep WHAT] [--multiplicity N] [--json FILE] [--svg FILE]";

const { name, values } = parseCall();
const { openDevice, run, svgOf, asCallError, fail, parseCount, parseSize } = await bundle(
  name,
  `export { openDevice } from ${JSON.stringify(join(bench, "../src/index.ts"))};
export { asCallError, parseCount, parseSize } from ${JSON.stringify(join(bench, "../src/cli/bench-call.ts"))};
export { fail } from ${JSON.stringify(join(bench, "../src/cli/failure.ts"))};
export { run } from ${JSON.stringify(join(bench, `${name}.ts`))};
export { svgOf } from ${JSON.stringify(join(bench, "figures/index.ts"))};`,
);
try {
  await measure();
} catch (error) {
  const { stderr, env } = process;
  const { signal } = new AbortController();
  process.exitCode = fail(asCallError(error), { stderr, env, signal }, "bench");
}

function parseCall() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        device: { type: "string", default: "auto" },
        software: { type: "boolean", default: false },
        threads: { type: "string" },
        size: { type: "string" },
        runs: { type: "string" },
        sweep: { type: "string" },
        multiplicity: { type: "string" },
        json: { type: "string" },
        svg: { type: "string" },
      },
    });
    const [name] = positionals;
    if (positionals.length === 1 && existsSync(join(bench, `${name}.ts`))) return { name, values };
  } catch (error) {
    if (!error.code?.startsWith("ERR_PARSE_ARGS")) throw error;
    console.error(error.message);
  }
  console.error(USAGE);
  process.exit(2);
}

async function measure() {
  const [threads, runs, multiplicity] = ["threads", "runs", "multiplicity"].map((option) =>
    values[option] === undefined ? undefined : parseCount(`--${option}`, values[option]),
  );
  const size = values.size === undefined ? undefined : parseSize(values.size);
  const device = await openDevice({
    backend: values.device,
    software: values.software,
    ...(threads && { threads }),
  });
  try {
    const onProgress = (step) => console.error(`${name}: ${step}`);
    const { sweep } = values;
    const asked = { size, runs, sweep, multiplicity, library: bundleLibrary, onProgress };
    const report = await run(device, asked);
    if (values.json) keep(values.json, `${JSON.stringify(report, null, 2)}\n`);
    const svg = values.svg && svgOf(report);
    if (svg) keep(values.svg, svg);
    console.log(
      `${report.bench} on ${report.device}; ${report.machine}; commit ${report.commit}; state: ${report.state}`,
    );
    console.table(report.rows.map(rounded));
    for (const note of report.notes) console.log(note);
  } finally {
    device.destroy();
  }
}

function keep(path, text) {
  mkdirSync(dirname(resolve(path)), { recursive: true });
  writeFileSync(path, text);
}

function rounded(row) {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key,
      typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value,
    ]),
  );
}
