// npm run pack:conformance: test/conformance, and tests of the levels of GPU engines, as one file, dist-test/conformance.mjs, for a machine with a GPU that has Node and
// the package `webgpu` or, for CUDA, `koffi`, but not the rest of node_modules. The CUDA engine and its kernels go with it.
//
//   node dist-test/conformance.mjs [PART OF A FILE NAME...]    WARPMAP_TEST_BACKEND=webgpu (the default), cuda or cpu
import { cpSync, existsSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { sourceTexts } from "./build-plugins.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const shim = join(root, "test/shim/vitest-on-node.ts");
const cuda = join(root, "packages/cuda");
const ENTRY = "\0conformance";

/** Levels of GPU engines, with small data that takes the ways of large data. */
const LEVELS =
  /^gpu\/(groups\/group-rows|join\/(join-columns|join-rows|join-tables|match-.*)|(lists|reduce|sketches|strings)\/.*)\.test\.ts$/;
const testsIn = (folder, wanted = /\.test\.ts$/) =>
  readdirSync(join(root, "test", folder), { recursive: true })
    .filter((path) => wanted.test(path))
    .map((path) => `${folder}/${path}`)
    .sort();
const files = [...testsIn("conformance"), ...testsIn("engine", LEVELS)];

await build({
  cwd: root,
  input: { conformance: ENTRY },
  platform: "node",
  external: (id) => id.startsWith("node:") || id === "webgpu" || id === "koffi",
  resolve: {
    alias: { vitest: shim, "warpmap/engine": join(root, "src/engine/kit.ts") },
    extensionAlias: { ".js": [".ts", ".js"] },
  },
  transform: { target: "es2022" },
  plugins: [sourceTexts(), { name: "entry", resolveId: (id) => (id === ENTRY ? id : null), load: entry }],
  output: { dir: join(root, "dist-test"), format: "esm", entryFileNames: "[name].mjs", codeSplitting: false },
});
for (const file of ["src/driver/waiter.mjs", "dist/kernels.fatbin"]) {
  const path = join(cuda, file);
  if (existsSync(path)) cpSync(path, join(root, "dist-test", basename(path)));
}
console.log(`dist-test/conformance.mjs: ${files.length} files`);

/** Each file loads inside `inFile`, one after the other, so that its hooks are its own. */
function entry(id) {
  if (id !== ENTRY) return null;
  const loads = files.map((path) => {
    const specifier = JSON.stringify(join(root, "test", path));
    return `if (wanted(${JSON.stringify(path)})) await inFile(${JSON.stringify(path)}, () => import(${specifier}));`;
  });
  return [
    `import { inFile } from ${JSON.stringify(shim)};`,
    `import ${JSON.stringify(join(cuda, "src/index.ts"))};`,
    "const parts = process.argv.slice(2);",
    "const wanted = (path) => parts.length === 0 || parts.some((part) => path.includes(part));",
    ...loads,
  ].join("\n");
}
