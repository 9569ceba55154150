// npm run build: src/ to dist/. JavaScript by rolldown, in files by use (build-chunks.mjs); declarations by tsc.
//
//   node scripts/build.mjs --if-changed      nothing, where dist/ is what these sources were built to (build-stamp.mjs)
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { buildCluster } from "../packages/cluster/scripts/build.mjs";
import { buildCuda } from "../packages/cuda/scripts/build.mjs";
import { chunksOf, dropFacades } from "./build-chunks.mjs";
import { sourceTexts } from "./build-plugins.mjs";
import { isBuilt, stampBuild } from "./build-stamp.mjs";
import { reachableDeclarations, typedEntries } from "./declarations.mjs";
import { tsc } from "./tsc.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const dist = join(root, "dist");
const pkg = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const ENTRIES = [...typedEntries, "engine/kit", "stages/kit", "cli/main"];

/**
 * What dist imports instead of holding: Node's modules, and packages that npm installs beside it. Of hyparquet and hyparquet-writer it
 * holds what it needs: they are many files, each of which a process takes a millisecond to load.
 */
const packages = [...Object.keys(pkg.dependencies ?? {}), ...Object.keys(pkg.peerDependencies ?? {})];
const isExternal = (id) => isBuiltin(id) || packages.some((name) => id === name || id.startsWith(`${name}/`));

/** What a consumer reads at a GPU type that has no members. */
const GPU_TYPES = `/** Without members: TypeScript has no WebGPU types here. TypeScript 6 has them in its lib "DOM"; else install @webgpu/types and add it to "types". */`;

if (process.argv.includes("--if-changed") && isBuilt(root)) {
  console.log("dist/ is up to date");
  process.exit(0);
}
await bundle();
declare();
await buildCuda();
await buildCluster();
stampBuild(root);

async function bundle() {
  rmSync(dist, { recursive: true, force: true });
  await build({
    cwd: root,
    input: Object.fromEntries(ENTRIES.map((entry) => [entry, `src/${entry}.ts`])),
    platform: "neutral",
    external: isExternal,
    // what grouping chunks without their dependencies asks for; entries export no more than they say all the same
    preserveEntrySignatures: "allow-extension",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    transform: { target: "es2022" },
    plugins: [sourceTexts({ strip: true })],
    checks: { bundlerTimings: false },
    onLog(level, log) {
      if (level === "warn") throw new Error(log.message);
    },
    output: {
      dir: dist,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
      minify: false,
      codeSplitting: chunksOf(root, ENTRIES),
    },
  });
  dropFacades(dist);
  chmodSync(join(dist, "cli/main.js"), 0o755);
}

function declare() {
  const require = createRequire(import.meta.url);
  const args = [tsc, "-p", join(root, "tsconfig.build.json")];
  if (spawnSync(process.execPath, args, { stdio: "inherit" }).status !== 0) process.exit(1);
  dropUnreachable();
  const domLibrary = readFileSync(require.resolve("typescript/lib/lib.dom.d.ts"), "utf8");
  nameGpuTypes(new Set(Array.from(domLibrary.matchAll(/^interface (GPU\w+)/gm), (match) => match[1])));
}

/** Takes away the declarations of modules that no entry shows: they name what is internal, and so is not declared. */
function dropUnreachable() {
  const reachable = reachableDeclarations(dist);
  for (const path of readdirSync(dist, { recursive: true })) {
    const file = join(dist, path);
    if (path.endsWith(".d.ts") && !reachable.has(file)) rmSync(file);
  }
  // folders that held nothing else
  for (const folder of readdirSync(dist, { recursive: true, withFileTypes: true }).reverse()) {
    const path = join(folder.parentPath, folder.name);
    if (folder.isDirectory() && readdirSync(path).length === 0) rmdirSync(path);
  }
}

/**
 * Lets the declarations compile whichever way a consumer gets the GPU types: from TypeScript's DOM library (6 and later),
 * from @webgpu/types, or not at all. An empty interface merges with either, and stands in for neither: it says so to who looks.
 */
function nameGpuTypes(interfaces) {
  const used = new Set();
  for (const path of readdirSync(dist, { recursive: true }).filter((path) => path.endsWith(".d.ts"))) {
    const file = join(dist, path);
    const text = readFileSync(file, "utf8");
    const named = (text.match(/\bGPU[A-Z]\w*/g) ?? []).filter((name) => interfaces.has(name));
    const disposable = text.includes("[Symbol.dispose]") || text.includes("[Symbol.asyncDispose]");
    if (named.length === 0 && !disposable) continue;
    for (const name of named) used.add(name);
    const reference = relative(join(file, ".."), join(dist, "globals.d.ts"));
    writeFileSync(file, `/// <reference path="${reference}" />\n${text}`);
  }
  const lines = Array.from(used, (name) => `${GPU_TYPES}\ninterface ${name} {}\n`).sort();
  writeFileSync(join(dist, "globals.d.ts"), `/// <reference lib="esnext.disposable" />\n${lines.join("")}`);
}
