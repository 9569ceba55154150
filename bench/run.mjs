// Runs a benchmark from its TypeScript source, without a build of dist:
//
//   node bench/run.mjs NAME [--device auto|webgpu|cpu] [--software] [--threads N] [--size N] [--runs N] [--json FILE]
//
// NAME is a file of this folder: gups, static-map, join-vs-duckdb. `warpmap bench` shows reports better; it has no
// benchmark that needs a development dependency, such as DuckDB. On a software GPU: npm run with-software-gpu -- node bench/run.mjs ...
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "rolldown";
import { sourceTexts } from "../scripts/build-plugins.mjs";

const bench = dirname(fileURLToPath(import.meta.url));
const pkg = JSON.parse(readFileSync(resolve(bench, "../package.json"), "utf8"));
const packages = Object.keys({ ...pkg.dependencies, ...pkg.devDependencies, ...pkg.peerDependencies });
const bundles = resolve(bench, "../node_modules/.cache/warpmap/bench");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    device: { type: "string", default: "auto" },
    software: { type: "boolean", default: false },
    threads: { type: "string" },
    size: { type: "string" },
    runs: { type: "string" },
    json: { type: "string" },
  },
});
const [name] = positionals;
if (positionals.length !== 1 || !existsSync(join(bench, `${name}.ts`))) {
  console.error(
    "usage: node bench/run.mjs NAME [--device D] [--software] [--threads N] [--size N] [--runs N] [--json FILE]",
  );
  process.exit(2);
}

const { openDevice, run } = await load(name);
const count = (text) => (text === undefined ? undefined : Number(text));
const device = await openDevice({
  backend: values.device,
  software: values.software,
  ...(values.threads && { threads: count(values.threads) }),
});
try {
  const report = await run(device, {
    size: count(values.size),
    runs: count(values.runs),
    onProgress: (step) => console.error(`${name}: ${step}`),
  });
  const json = `${JSON.stringify(report, null, 2)}\n`;
  if (values.json) {
    mkdirSync(dirname(resolve(values.json)), { recursive: true });
    writeFileSync(values.json, json);
  }
  console.log(`${report.bench} on ${report.device}; ${report.machine}; commit ${report.commit}`);
  console.table(report.rows.map(rounded));
  for (const note of report.notes) console.log(note);
} finally {
  device.destroy();
}

/** One module with the benchmark's `run` and the `openDevice` of the same sources. */
async function load(name) {
  const entry = "\0bench";
  await build({
    input: { [name]: entry },
    platform: "node",
    external: (id) =>
      id.startsWith("node:") || packages.some((name) => id === name || id.startsWith(`${name}/`)),
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    transform: { target: "es2022" },
    plugins: [
      sourceTexts(),
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) =>
          id === entry
            ? `export { openDevice } from ${JSON.stringify(join(bench, "../src/index.ts"))};
export { run } from ${JSON.stringify(join(bench, `${name}.ts`))};`
            : null,
      },
    ],
    output: {
      dir: bundles,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    },
  });
  return import(pathToFileURL(join(bundles, `${name}.mjs`)).href);
}

function rounded(row) {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key,
      typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value,
    ]),
  );
}
