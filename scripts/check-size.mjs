// npm run check:size: what an application that imports from `warpmap` ships to a browser, minified and gzipped. Reads dist.
//
// A page loads the entry and one engine, the GPU's or the CPU's: "first" is what the limit is for. "no GPU" is a page whose browser has
// none: it has asked, and then loads the engine of the CPU. "with large batches" adds what the engine loads on the first use of such; the
// engine's row operations only where a bundle has joins, those of sketches where it has sketches. "all chunks" is what a bundler without
// code splitting ships. With --markdown the table is one of Markdown.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const KB = 1000;

/** `limits`: of what is loaded first, in KB, by engine. `uses`: operations of the engine, besides tables, that are used: entries of OPERATIONS. `engines`: those it is for. */
const BUNDLES = [
  {
    name: "StaticMap",
    source: `export { openDevice, StaticMap } from "./dist/index.js";`,
    engines: ["webgpu", "cpu", "no GPU"],
    limits: { webgpu: 30, cpu: 23, "no GPU": 24.5 },
  },
  {
    name: "StaticSet",
    source: `export { openDevice, StaticSet } from "./dist/index.js";`,
    limits: { webgpu: 30, cpu: 22.5 },
  },
  {
    name: "DynamicMap",
    source: `export { openDevice, DynamicMap } from "./dist/index.js";`,
    limits: { webgpu: 32.7, cpu: 25.6 },
  },
  {
    name: "StaticMultimap",
    source: `export { openDevice, StaticMultimap } from "./dist/index.js";`,
    limits: { webgpu: 33.7, cpu: 26.5 },
  },
  { name: "warpmap", source: `export * from "./dist/index.js";`, limits: { webgpu: 39.2, cpu: 32 } },
  {
    name: "warpmap/io",
    source: `export * from "./dist/io/index.js";`,
    engines: ["none"],
    limits: { none: 27 },
  },
  {
    name: "warpmap/relational",
    source: `export * from "./dist/relational/index.js";`,
    uses: ["rows"],
    limits: { webgpu: 97.6, cpu: 89.4 },
  },
  {
    name: "warpmap/sketches",
    source: `export { openDevice } from "./dist/index.js"; export * from "./dist/sketches/index.js";`,
    uses: ["sketches"],
    limits: { webgpu: 33, cpu: 25 },
  },
  {
    name: "warpmap/wgsl",
    source: `export { openDevice } from "./dist/index.js"; export * from "./dist/wgsl/index.js";`,
    engines: ["webgpu"],
    limits: { webgpu: 51.5 },
  },
];
const ENGINES = ["webgpu", "cpu"];
/** What a page loads of an engine before its first table, by the parts of dist/ (build-chunks.mjs). */
const FIRST = {
  webgpu: ["webgpu-adapter", "webgpu-engine"],
  cpu: ["cpu-engine"],
  "no GPU": ["webgpu-adapter", "unavailable", "cpu-engine"],
  none: [],
};
/** Parts that pages do not load: WebGPU for Node, and temporary files. */
const IN_NODE = /^(dawn|spill$|io-files$)/;
/** Parts that only who uses them loads. */
const OPERATIONS = {
  rows: /^(cpu-rows|webgpu-rows|columns|device-tables)$/,
  sketches: /^(cpu|webgpu)-sketches$/,
};

const root = resolve(fileURLToPath(import.meta.url), "../..");
if (!existsSync(join(root, "dist/index.js"))) {
  console.error("no dist/: run `npm run build` first");
  process.exit(1);
}

const table = [["gzip", "engine", "first", "with large batches", "all chunks", ""]];
let tooLarge = 0;
for (const { name, source, limits, uses = [], engines = ENGINES } of BUNDLES) {
  const chunks = await bundle(source);
  for (const engine of engines) {
    const first = onPage(chunks, engine);
    const limitBytes = limits[engine] * KB;
    const later = onPage(chunks, engine, { later: true, uses });
    if (first > limitBytes) tooLarge++;
    const verdict = `${first > limitBytes ? "TOO LARGE: " : ""}limit ${kb(limitBytes)}`;
    table.push([name, engine, kb(first), kb(later), kb(sum(chunks.values())), verdict]);
  }
}
if (process.argv.includes("--markdown")) printMarkdown(table);
else printTable(table);
process.exit(tooLarge > 0 ? 1 : 0);

/** @returns chunks by path: gzipped bytes, what they import, and the part of dist/ that they stand for. */
async function bundle(source) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: root, sourcefile: "entry.js" },
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    outdir: "out",
    entryNames: "entry",
    chunkNames: "[name]-[hash]",
  });
  return new Map(
    outputFiles.map(({ path, contents }) => {
      const name = path.slice(root.length + 1);
      const { imports, entryPoint = "" } = metafile.outputs[name];
      const [, part = ""] = /dist\/chunks\/(.*)\.js$/.exec(entryPoint) ?? [];
      return [name, { gzip: gzipSync(contents, { level: 9 }).length, imports, part }];
    }),
  );
}

/** Bytes of the entry, of the engine's parts, and of all that they import; with `later`, also of what these load on first use. */
function onPage(chunks, engine, { later = false, uses = [] } = {}) {
  const isUnused = (part) =>
    Object.entries(OPERATIONS).some(([name, parts]) => !uses.includes(name) && parts.test(part));
  const isOther = (part) =>
    ENGINES.some((each) => !FIRST[engine].includes(`${each}-engine`) && part.startsWith(`${each}-`));
  const isLoaded = (part) =>
    FIRST[engine].includes(part) || (later && !IN_NODE.test(part) && !isOther(part) && !isUnused(part));
  const loaded = new Set();
  const load = (path) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind } of chunks.get(path).imports)
      if (kind === "import-statement" || isLoaded(chunks.get(next).part)) load(next);
  };
  load("out/entry.js");
  const parts = new Set([...loaded].map((path) => chunks.get(path).part));
  const missing = FIRST[engine].filter((part) => !parts.has(part));
  if (missing.length > 0) throw new Error(`a page loads ${missing.join(", ")}, which is not in the bundle`);
  return sum([...loaded].map((path) => chunks.get(path)));
}

function sum(chunks) {
  return [...chunks].reduce((total, { gzip }) => total + gzip, 0);
}

function kb(bytes) {
  return `${(bytes / KB).toFixed(1)} KB`;
}

function printMarkdown([head, ...rows]) {
  for (const row of [head, head.map(() => "---"), ...rows]) console.log(`| ${row.join(" | ")} |`);
}

/** The first two columns are words, and so is the last; the others are numbers. */
function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const isText = (column) => column < 2 || column === widths.length - 1;
  for (const row of rows) {
    const cells = row.map((text, i) => (isText(i) ? text.padEnd(widths[i]) : text.padStart(widths[i])));
    console.log(cells.join("  ").trimEnd());
  }
}
