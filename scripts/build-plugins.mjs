// Kinds of import that hold source texts, for rolldown (dist), and for Vite and Vitest (tests, playground):
//
//   import source from "./insert.wgsl"                WGSL text
//   import texts from "./lists?texts"                 those of a folder, by name
//   import bytes from "./lane-kernels.wat"            WebAssembly text, assembled, as base64
//   import source from "./worker.ts?worker-source"    a module bundled to one classic script, minified
//
// A worker started from text needs no file of its own, so the same line works from TypeScript sources, from dist,
// and in an application that bundles dist again. src/assets.d.ts declares all to TypeScript.
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import openWabt from "wabt";

const WORKER_SUFFIX = "?worker-source";
const FOLDER_SUFFIX = "?texts";

/**
 * @param {{ strip?: boolean }} [options] strip: take comments and needless space out of WGSL (for dist)
 * @returns a plugin in Rollup's shape
 */
export function sourceTexts({ strip = false } = {}) {
  const wgsl = async (path) => {
    const text = await readFile(path, "utf8");
    return strip ? stripWgsl(text) : text;
  };
  return {
    name: "warpmap:source-texts",
    /** Vite: before its own handling of .ts */
    enforce: /** @type {const} */ ("pre"),

    resolveId(id, importer) {
      const isOurs = id.endsWith(WORKER_SUFFIX) || id.endsWith(FOLDER_SUFFIX);
      if (!isOurs || !importer || !id.startsWith(".")) return null;
      return resolve(dirname(importer.split("?", 1)[0]), id);
    },

    async load(id) {
      if (id.endsWith(".wgsl")) return asModule(await wgsl(id));
      if (id.endsWith(".wat")) return asModule(await assemble(id));
      if (id.endsWith(FOLDER_SUFFIX)) {
        const folder = id.slice(0, -FOLDER_SUFFIX.length);
        const names = (await readdir(folder)).filter((name) => name.endsWith(".wgsl")).sort();
        for (const name of names) this.addWatchFile?.(join(folder, name));
        const texts = names.map(async (name) => [
          name.slice(0, -".wgsl".length),
          await wgsl(join(folder, name)),
        ]);
        return asModule(Object.fromEntries(await Promise.all(texts)));
      }
      if (id.endsWith(WORKER_SUFFIX)) {
        const { text, inputs } = await bundleWorker(id.slice(0, -WORKER_SUFFIX.length));
        for (const input of inputs) this.addWatchFile?.(input);
        return asModule(text);
      }
      return null;
    },
  };
}

/** The WebAssembly module of a file of its text. */
async function assemble(path) {
  const module = (await openWabt()).parseWat(path, await readFile(path, "utf8"));
  try {
    return Buffer.from(module.toBinary({}).buffer).toString("base64");
  } finally {
    module.destroy();
  }
}

/** WGSL has no string literals, so every `//` and every slash-star starts a comment; block comments nest. */
export function stripWgsl(text) {
  let code = "";
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const two = text.slice(i, i + 2);
    if (two === "/*") {
      depth++;
      i++;
    } else if (depth > 0 && two === "*/") {
      depth--;
      i++;
      code += " ";
    } else if (depth === 0 && two === "//") {
      const end = text.indexOf("\n", i);
      i = (end < 0 ? text.length : end) - 1;
    } else if (depth === 0) {
      code += text[i];
    }
  }
  const lines = code.split("\n").map((line) => line.trim());
  const short = lines.filter((line) => line !== "").join("\n");
  // around these no space keeps two tokens apart: not so for / and *, which make a comment, nor for > =
  return `${short.replace(/(?<!>)\s*([(){}[\],;:=+<|^%&!])\s*/g, "$1")}\n`;
}

/** Modules of packages of which nothing is used, whether or not a package says that this may be done. */
const unusedModulesLeftOut = {
  name: "warpmap:unused-modules-left-out",
  setup({ onResolve, resolve: resolved }) {
    onResolve({ filter: /./ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === "resolved" || from.kind === "entry-point") return undefined;
      const found = await resolved(path, { ...from, pluginData: "resolved" });
      return /[\\/]node_modules[\\/]/.test(found.path) ? { ...found, sideEffects: false } : found;
    });
  },
};

/** Workers start none: what imports a program of theirs gets an empty one. */
const noWorkersOfWorkers = {
  name: "warpmap:no-workers-of-workers",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?worker-source$/ }, ({ path }) => ({ path, namespace: "no-worker" }));
    onLoad({ filter: /./, namespace: "no-worker" }, () => ({ contents: 'export default "";', loader: "js" }));
  },
};

/** WebAssembly texts, for esbuild. */
export const assembled = {
  name: "warpmap:assembled",
  setup({ onLoad }) {
    onLoad({ filter: /\.wat$/ }, async ({ path }) => ({ contents: await assemble(path), loader: "text" }));
  },
};

async function bundleWorker(entry) {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    format: "iife",
    target: "es2022",
    platform: "neutral",
    // what packages have for every runtime, Node's modules being there by their full names only
    conditions: ["browser"],
    mainFields: ["module", "main"],
    external: ["node:*"],
    minify: true,
    legalComments: "none",
    logLevel: "silent",
    plugins: [noWorkersOfWorkers, assembled, unusedModulesLeftOut],
  });
  const inputs = Object.keys(result.metafile.inputs).map((path) => resolve(path));
  return { text: result.outputFiles[0].text, inputs };
}

function asModule(value) {
  return { code: `export default ${JSON.stringify(value)};\n`, map: { mappings: "" }, moduleType: "js" };
}
