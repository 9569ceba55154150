// npm run pack:conformance: test/conformance as one file, dist-test/conformance.mjs, for a machine with a GPU that has Node and
// the package `webgpu` but not the rest of node_modules.
//
//   node dist-test/conformance.mjs [PART OF A FILE NAME...]    WARPMAP_TEST_BACKEND=webgpu (the default) or cpu
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { sourceTexts } from "./build-plugins.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const shim = join(root, "test/shim/vitest-on-node.ts");
const suite = join(root, "test/conformance");
const ENTRY = "\0conformance";

const files = readdirSync(suite, { recursive: true })
  .filter((path) => path.endsWith(".test.ts"))
  .sort();

await build({
  cwd: root,
  input: { conformance: ENTRY },
  platform: "node",
  external: (id) => id.startsWith("node:") || id === "webgpu",
  resolve: { alias: { vitest: shim }, extensionAlias: { ".js": [".ts", ".js"] } },
  transform: { target: "es2022" },
  plugins: [sourceTexts(), { name: "entry", resolveId: (id) => (id === ENTRY ? id : null), load: entry }],
  output: { dir: join(root, "dist-test"), format: "esm", entryFileNames: "[name].mjs", codeSplitting: false },
});
console.log(`dist-test/conformance.mjs: ${files.length} files`);

/** Each file loads inside `inFile`, one after the other, so that its hooks are its own. */
function entry(id) {
  if (id !== ENTRY) return null;
  const loads = files.map((path) => {
    const specifier = JSON.stringify(join(suite, path));
    return `if (wanted(${JSON.stringify(path)})) await inFile(${JSON.stringify(path)}, () => import(${specifier}));`;
  });
  return [
    `import { inFile } from ${JSON.stringify(shim)};`,
    "const parts = process.argv.slice(2);",
    "const wanted = (path) => parts.length === 0 || parts.some((part) => path.includes(part));",
    ...loads,
  ].join("\n");
}
