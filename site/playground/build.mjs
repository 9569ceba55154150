// Builds the playground: static files that work from any path, without a server.
//
//   node site/playground/build.mjs [FOLDER]        after `npm run build` and, in site/, `npm ci`
//
// Two builds by Vite. `page` is the shell and its views, in chunks with hashed names. `lib/` is what workers run: the library from
// dist under fixed names, which the programs of the view Code import, and the workers of the views, which share its chunks. So the
// library is in the output once.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sourceTexts } from "../../scripts/build-plugins.mjs";
import { documentedPrograms, examplePrograms } from "../programs.mjs";
import { pageModules } from "./page-modules.mjs";
import { writeSamples } from "./samples.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const site = resolve(here, "..");
const dist = join(root, "dist");

// the Vite beside VitePress is an older one
const { build: viteBuild } = await import(
  pathToFileURL(createRequire(join(root, "package.json")).resolve("vite")).href
);

/** Entries of the library by the names that programs import. */
const LIBRARY = {
  warpmap: "index.js",
  "warpmap/relational": "relational/index.js",
  "warpmap/io": "io/index.js",
  "warpmap/sketches": "sketches/index.js",
  "warpmap/wgsl": "wgsl/index.js",
};

const WORKERS = ["try", "bench", "code"];

/** What programs of the view Code may import besides (src/code/rewrite.ts). */
const BESIDES = {
  flechette: join(here, "src/code/flechette.ts"),
  "node-fs": join(here, "src/code/node/fs.ts"),
  "node-util": join(here, "src/code/node/util.ts"),
};

/** Builds the playground into a folder, which it empties first. @returns the folder */
export async function build(outDir) {
  const out = resolve(outDir);
  if (!existsSync(join(dist, "index.js"))) {
    throw new Error("dist is not built yet: run npm run build in the repository first");
  }
  await buildPage(out);
  await buildLibrary(join(out, "lib"));
  await writeSamples(join(out, "samples"));
  copyExamples(join(out, "clone"));
  copyDuckdb(join(out, "duckdb"));
  return out;
}

const shared = {
  configFile: false,
  logLevel: "warn",
  root: here,
  base: "./",
  define: { "process.env.NODE_ENV": '"production"' },
};

function buildPage(outDir) {
  return viteBuild({
    ...shared,
    plugins: [exampleSources()],
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: { polyfill: false },
      rolldownOptions: { checks: { pluginTimings: false } },
      // CodeMirror and Plot are loaded with the view that needs them
      chunkSizeWarningLimit: 1000,
    },
  });
}

function buildLibrary(outDir) {
  const entry = {
    ...BESIDES,
    ...Object.fromEntries(Object.entries(LIBRARY).map(([name, file]) => [name, join(dist, file)])),
    ...Object.fromEntries(
      WORKERS.map((name) => [`${name}-worker`, join(here, `src/${name}/worker/main.ts`)]),
    ),
  };
  return viteBuild({
    ...shared,
    publicDir: false,
    resolve: {
      alias: Object.entries(LIBRARY)
        .reverse() // the longer names first
        .map(([name, file]) => ({ find: new RegExp(`^${name}$`), replacement: join(dist, file) })),
    },
    plugins: [pageModules({ root, dist }), sourceTexts({ strip: true })],
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      minify: true,
      chunkSizeWarningLimit: 1000,
      lib: { entry, formats: ["es"] },
      rolldownOptions: {
        checks: { pluginTimings: false },
        external: ["webgpu"],
        output: {
          entryFileNames: "[name].js",
          chunkFileNames: "chunks/[name]-[hash].js",
          minify: true,
          // programs and errors show the names of classes
          keepNames: true,
        },
      },
    },
  });
}

/** `virtual:examples`: the programs that the view Code offers, in groups by their titles; the first is README.md's. */
function exampleSources() {
  const id = "virtual:examples";
  return {
    name: "playground:examples",
    resolveId: (source) => (source === id ? `\0${id}` : null),
    load(source) {
      if (source !== `\0${id}`) return null;
      const [first, ...documented] = documentedPrograms().map(({ prints, ...program }) => program);
      return `export default ${JSON.stringify([
        { title: "Examples", programs: [first, ...examplePrograms()] },
        { title: "Documentation", programs: documented },
      ])};`;
    },
  };
}

/** What the programs read, at the places where it is in a clone: their own data, README.md, and what they take from vega-datasets. */
function copyExamples(clone) {
  cpSync(join(root, "examples/data"), join(clone, "examples/data"), { recursive: true });
  copyFileSync(join(root, "README.md"), join(clone, "README.md"));
  const vega = "node_modules/vega-datasets/data";
  mkdirSync(join(clone, vega), { recursive: true });
  for (const name of ["movies.json", "flights-airport.csv", "miserables.json"]) {
    copyFileSync(join(root, vega, name), join(clone, vega, name));
  }
}

/** DuckDB-Wasm, which a comparison loads when it is asked for: the build for browsers with WebAssembly exceptions. */
function copyDuckdb(folder) {
  mkdirSync(folder, { recursive: true });
  const from = join(site, "node_modules/@duckdb/duckdb-wasm/dist");
  for (const name of ["duckdb-eh.wasm", "duckdb-browser-eh.worker.js"]) {
    // without the mention of a source map that is not copied
    if (name.endsWith(".js")) {
      const text = readFileSync(join(from, name), "utf8");
      writeFileSync(join(folder, name), text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"));
    } else copyFileSync(join(from, name), join(folder, name));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = await build(process.argv[2] ?? join(here, "dist"));
  console.log(`the playground is in ${out}`);
}
