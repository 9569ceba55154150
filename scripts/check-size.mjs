// npm run check:size: what an application that imports from `warpmap` ships to a browser, minified and gzipped. Reads dist.
//
// A page loads the entry and one engine, the GPU's or the CPU's: that is what the limit is for. What an engine loads on the first
// use is printed with it, and so is the sum of all chunks, which a bundler without code splitting ships.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const KB = 1000;

const BUNDLES = [
  {
    name: "StaticMap",
    source: `export { openDevice, StaticMap } from "./dist/index.js";`,
    limitBytes: 29 * KB,
  },
  { name: "warpmap", source: `export * from "./dist/index.js";`, limitBytes: Infinity },
  { name: "warpmap/relational", source: `export * from "./dist/relational/index.js";`, limitBytes: Infinity },
  { name: "warpmap/wgsl", source: `export * from "./dist/wgsl/index.js";`, limitBytes: Infinity },
];
const ENGINES = ["webgpu", "cpu"];
/** Chunks that no page loads: WebGPU for Node. */
const IN_NODE = "chunks/dawn.js";

const root = resolve(fileURLToPath(import.meta.url), "../..");
if (!existsSync(join(root, "dist/index.js"))) {
  console.error("no dist/: run `npm run build` first");
  process.exit(1);
}

let tooLarge = 0;
for (const { name, source, limitBytes } of BUNDLES) {
  const chunks = await bundle(source);
  for (const engine of ENGINES) {
    const loaded = onPage(chunks, engine);
    const verdict = loaded > limitBytes ? "TOO LARGE" : "";
    if (verdict) tooLarge++;
    const limit = limitBytes === Infinity ? "" : `limit ${kb(limitBytes)} ${verdict}`;
    print(`${name}, on a page that runs ${engine}`, loaded, limit);
    const later = onPage(chunks, engine, { later: true });
    if (later > loaded) print(`${name}, the same with large batches`, later, "");
  }
  print(`${name}, all chunks`, sum(chunks.values()), "");
}
process.exit(tooLarge > 0 ? 1 : 0);

/** @returns chunks by path: gzipped bytes, what they import, and the sources in them. */
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
      const { imports, inputs } = metafile.outputs[path.slice(root.length + 1)];
      return [
        path.slice(root.length + 1),
        { gzip: gzipSync(contents, { level: 9 }).length, imports, inputs: Object.keys(inputs) },
      ];
    }),
  );
}

/** Bytes of the entry, of the engine's chunk, and of all that they import; with `later`, also of what these load on first use. */
function onPage(chunks, engine, { later = false } = {}) {
  const loaded = new Set();
  const load = (path) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind } of chunks.get(path).imports) {
      const { inputs } = chunks.get(next);
      const isEngine = inputs.some((input) => input.endsWith(`/${engine}-engine.js`));
      const isOther = ENGINES.some((each) => each !== engine && belongsTo(chunks.get(next), each));
      const inNode = inputs.some((input) => input.endsWith(IN_NODE));
      if (kind === "import-statement" || isEngine || (later && !isOther && !inNode)) load(next);
    }
  };
  load("out/entry.js");
  return sum([...loaded].map((path) => chunks.get(path)));
}

/** Chunks of an engine are named for it in dist: cpu-engine.js, cpu-rows.js. */
function belongsTo(chunk, engine) {
  return chunk.inputs.some((input) => input.includes(`${engine}-`));
}

function sum(chunks) {
  return [...chunks].reduce((total, { gzip }) => total + gzip, 0);
}

function kb(bytes) {
  return `${(bytes / KB).toFixed(1)} KB`;
}

function print(name, gzip, note) {
  console.log(`${name.padEnd(48)}${kb(gzip).padStart(9)} gzip   ${note}`.trimEnd());
}
