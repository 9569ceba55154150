// Benchmarks from their TypeScript sources, without a build of dist.
import { cpSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";
import { sourceTexts } from "../scripts/build-plugins.mjs";

const bench = dirname(fileURLToPath(import.meta.url));
const pkg = JSON.parse(readFileSync(resolve(bench, "../package.json"), "utf8"));
const own = ["warpmap", "warpmap-cuda", "warpmap-cluster"];
const packages = Object.keys({
  ...pkg.dependencies,
  ...pkg.devDependencies,
  ...pkg.peerDependencies,
  koffi: "",
}).filter((name) => !own.includes(name));
const bundles = resolve(bench, "../node_modules/.cache/warpmap/bench");

/**
 * Bundles the module whose text is `source` under a name, and imports it. Imports in it are absolute paths.
 * @param withCuda the CUDA engine of this clone goes with it, whose kernels `npm run build:kernels` makes
 */
export async function bundle(name, source, withCuda = false) {
  if (!withCuda) return import(await bundleTo(name, source));
  const cuda = resolve(bench, "../packages/cuda");
  process.env.WARPMAP_CUDA_KERNELS ??= join(cuda, "dist/kernels.fatbin");
  const url = await bundleTo(name, `import ${JSON.stringify(join(cuda, "src/index.ts"))};\n${source}`);
  cpSync(join(cuda, "src/driver/waiter.mjs"), join(bundles, "waiter.mjs"));
  return import(url);
}

/** The URL of what users import, bundled. */
export function bundleLibrary() {
  return bundleTo("warpmap", `export * from ${JSON.stringify(resolve(bench, "../src/index.ts"))};`);
}

async function bundleTo(name, source) {
  const entry = "\0bench";
  await build({
    input: { [name]: entry },
    platform: "node",
    external: (id) =>
      id.startsWith("node:") || packages.some((name) => id === name || id.startsWith(`${name}/`)),
    resolve: {
      alias: { "warpmap/engine": resolve(bench, "../src/engine/kit.ts") },
      extensionAlias: { ".js": [".ts", ".js"] },
    },
    transform: { target: "es2022" },
    checks: { pluginTimings: false }, // said of a busy machine
    plugins: [
      sourceTexts(),
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? source : null),
      },
    ],
    output: {
      dir: bundles,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    },
  });
  return pathToFileURL(join(bundles, `${name}.mjs`)).href;
}
