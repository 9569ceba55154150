// npm run check:size: what an application that imports from `warpmap` ships to a browser, minified and gzipped. Reads dist.
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const KB = 1000;

/** All chunks count, also the one of the engine that a given browser never loads. */
const BUNDLES = [
  {
    name: "StaticMap",
    source: `export { openDevice, StaticMap } from "./dist/index.js";`,
    limitBytes: 25 * KB,
  },
  { name: "all of warpmap", source: `export * from "./dist/index.js";`, limitBytes: Infinity },
  {
    name: "all of warpmap/relational",
    source: `export * from "./dist/relational/index.js";`,
    limitBytes: Infinity,
  },
  { name: "all of warpmap/wgsl", source: `export * from "./dist/wgsl/index.js";`, limitBytes: Infinity },
];

const root = resolve(fileURLToPath(import.meta.url), "../..");
if (!existsSync(join(root, "dist/index.js"))) {
  console.error("no dist/: run `npm run build` first");
  process.exit(1);
}

let tooLarge = 0;
for (const { name, source, limitBytes } of BUNDLES) {
  const chunks = await sizes(source);
  const total = sum(chunks, "gzip");
  const verdict = total > limitBytes ? "TOO LARGE" : "";
  if (verdict) tooLarge++;
  const limit = limitBytes === Infinity ? "" : `limit ${kb(limitBytes)}`;
  print(name, sum(chunks, "minified"), total, `${limit} ${verdict}`);
  for (const chunk of chunks) print(`  ${chunk.name}`, chunk.minified, chunk.gzip, "");
}
process.exit(tooLarge > 0 ? 1 : 0);

async function sizes(source) {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: root, sourcefile: "entry.js" },
    bundle: true,
    splitting: true,
    write: false,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    outdir: "out",
    entryNames: "entry",
    chunkNames: "[name]-[hash]",
  });
  return outputFiles
    .map(({ path, contents }) => ({
      name: basename(path),
      minified: contents.length,
      gzip: gzipSync(contents, { level: 9 }).length,
    }))
    .sort((a, b) => b.gzip - a.gzip);
}

function sum(rows, key) {
  return rows.reduce((total, row) => total + row[key], 0);
}

function kb(bytes) {
  return `${(bytes / KB).toFixed(1)} KB`;
}

function print(name, minified, gzip, note) {
  console.log(
    `${name.padEnd(28)}${kb(minified).padStart(10)} minified${kb(gzip).padStart(10)} gzip   ${note}`.trimEnd(),
  );
}
