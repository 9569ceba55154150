// npm run check:package: what `npm pack` holds, installed into an empty project, is used the way strangers use it: imported
// and run in Node, started from the command line, type-checked by TypeScript, bundled for Node and for pages. Reads dist.
//
//   --short     of set-ups of TypeScript one for each version, and of bundlers those that take least time: what `npm test` runs
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { reachableDeclarations } from "./declarations.mjs";
import { bundlers, checkBundler } from "./package/bundlers.mjs";
import { checkInstall, checkLinks, checkPublint, checkTypesExports } from "./package/lint.mjs";
import { checkPage, checkPageWithoutBundler } from "./package/page.mjs";
import { Project, root } from "./package/project.mjs";
import { checkTypes, setUps } from "./package/types.mjs";

/** What each subpath has to export. */
const EXPORTS = {
  warpmap: ["openDevice", "StaticMap", "StaticSet"],
  "warpmap/io": ["readTable", "tableToBytes", "writeTable"],
  "warpmap/relational": ["count", "distinct", "groupBy", "join", "sum"],
  "warpmap/sketches": ["BloomFilter", "HyperLogLog"],
  "warpmap/wgsl": ["tableModule"],
};

/** Of the repository's packages, what the project gets beside the packed one, and its dependencies. */
const LINKED = ["webgpu", "@types/node", "@webgpu/types"];

/** Of the installed package, in bytes. Raise it knowingly. */
const MOST_BYTES = 3_700_000;

/** A million keys: enough for the worker threads, whose source is text inside dist. */
const PROGRAM = `
  import { openDevice, StaticMap } from "warpmap";
  const device = await openDevice({ backend: "cpu" });
  const keys = Uint32Array.from({ length: 1 << 20 }, (_, i) => i);
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: keys.length });
  const { inserted } = await map.insert(keys, keys);
  const { values, found } = await map.find(keys);
  if (inserted !== keys.length || !found.every(Boolean) || !values.every((value, i) => value === i)) {
    throw new Error("wrong answers");
  }
  map.destroy();
  device.destroy();
`;

const isShort = process.argv.includes("--short");
const project = new Project();
let failures = 0;

try {
  await check("holds dist, its pages, the licence and nothing else", assertFiles);
  await check(`is at most ${MOST_BYTES / 1e6} MB when unpacked`, assertSize);
  await check("installs into an empty project, without a script", () =>
    checkInstall(project, project.install()),
  );
  await check("the flechette that README.md names is the package's own", installFlechette);
  await check("links and pictures of its pages are in it", () => checkLinks(project));
  await check("publint", () => checkPublint(project));
  await check("Are The Types Wrong", () => checkTypesExports(project));
  await check("shows no engine in its declarations", assertNoEngine);
  await check("imports in Node without touching navigator or native modules", importAll);
  await check("works in Node: CPU engine, worker threads, a process that ends by itself", useInNode);
  await check("works in Deno, the same way", useInDeno);
  await check("is there for require(), in the versions of Node that package.json names", requireIt);
  await check("starts as a command", () => project.npm("exec", "--offline", "--", "warpmap", "devices"));
  for (const name of LINKED) project.link(name);
  cpSync(join(root, "scripts/package/fixtures"), join(project.folder, "src"), { recursive: true });
  for (const setUp of setUps.filter(({ isFirst }) => isFirst || !isShort))
    await check(`type-checks: TypeScript ${setUp.ts.version}, ${setUp.title}`, () =>
      checkTypes(project, setUp),
    );
  await check("a page with StaticMap alone loads no other package", bundleForBrowser);
  for (const bundler of bundlers.filter(({ isFast }) => isFast || !isShort))
    await check(`${bundler.name}: bundles for Node and for a page, runs in Node`, () =>
      checkBundler(project, bundler),
    );
  await check("Vite: a page from its development server, and a built one, in Chromium", () =>
    checkPage(project),
  );
  await check("a page without a bundler, in Chromium", () => checkPageWithoutBundler(project));
} finally {
  project.remove();
}
process.exit(failures > 0 ? 1 : 0);

async function check(title, test) {
  const start = performance.now();
  try {
    await test();
    console.log(`ok      ${title} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failures++;
    const report = [error.stdout, error.stderr, error.message].filter(Boolean).join("\n");
    console.error(`FAILED  ${title}\n${report}\n`);
  }
}

function assertFiles() {
  const expected =
    /^(dist\/.*\.(js|d\.ts)|package\.json|LICENSE|[A-Z]+\.md|docs\/(?!api\/).*\.md|bench\/results\/[^/]+\.svg)$/;
  const strangers = project.files.filter((path) => !expected.test(path));
  if (strangers.length > 0) throw new Error(`unexpected files: ${strangers.join(", ")}`);
  for (const path of [
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "dist/index.js",
    "dist/index.d.ts",
    "dist/cli/main.js",
  ]) {
    if (!project.files.includes(path)) throw new Error(`missing: ${path}`);
  }
}

function assertSize() {
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
  console.log(
    `        ${megabytes(project.unpackedBytes)} unpacked, ${megabytes(project.packedBytes)} packed`,
  );
  if (project.unpackedBytes > MOST_BYTES) throw new Error(`${megabytes(project.unpackedBytes)} unpacked`);
}

/** Later versions do not install from every registry; another version would be a second copy. */
function installFlechette() {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, named] = /npm install (@uwdata\/flechette\S*?)`/.exec(readme);
  project.npm("install", "--no-audit", "--no-fund", named);
  if (existsSync(join(project.folder, "node_modules/warpmap/node_modules/@uwdata")))
    throw new Error(`${named} is not the version that the package depends on`);
}

/** Engines are behind the seam: what users can reach names EngineInfo and EngineError, and no `Engine`. */
function assertNoEngine() {
  const dist = join(project.folder, "node_modules/warpmap/dist");
  const shown = [];
  for (const file of reachableDeclarations(dist)) {
    for (const [i, line] of readFileSync(file, "utf8").split("\n").entries())
      if (/\bEngine\b/.test(line)) shown.push(`${relative(dist, file)}:${i + 1}: ${line.trim()}`);
  }
  if (shown.length > 0) throw new Error(shown.join("\n"));
}

function importAll() {
  runInNode(`
    const native = [];
    process.dlopen = (module, path) => { throw new Error("loads " + path) };
    Object.defineProperty(globalThis, "navigator", { get() { throw new Error("touches navigator") } });
    const expected = ${JSON.stringify(EXPORTS)};
    for (const [specifier, names] of Object.entries(expected)) {
      const module = await import(specifier);
      const missing = names.filter((name) => module[name] === undefined);
      if (missing.length > 0) throw new Error(specifier + " does not export " + missing.join(", "));
    }
    await import("warpmap/package.json", { with: { type: "json" } });
  `);
}

function useInNode() {
  runInNode(PROGRAM);
}

/** Node 22.0 to 22.11 refuse to require an ES module, so `engines` leaves them out. */
function requireIt() {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (engines.node !== "^20.19.0 || >=22.12.0") throw new Error(`engines says ${engines.node}`);
  project.write(
    "required.cjs",
    `if (typeof require("warpmap").openDevice !== "function") throw new Error("not there");`,
  );
  project.node("--disable-warning=ExperimentalWarning", "required.cjs");
}

function useInDeno() {
  project.write("program.mjs", PROGRAM);
  project.node(join(root, "node_modules/deno/bin.cjs"), "run", "--allow-all", "--cached-only", "program.mjs");
}

/** Nothing is marked external: an import that only Node can answer would stop the bundler. */
async function bundleForBrowser() {
  const { metafile, warnings } = await build({
    stdin: {
      contents: `import { openDevice, StaticMap } from "warpmap"; console.log(openDevice, StaticMap);`,
      resolveDir: project.folder,
    },
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    outdir: join(project.folder, "out"),
    logLevel: "silent",
  });
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join("\n"));
  const strangers = Object.keys(metafile.inputs).filter(
    (path) =>
      path.includes("node_modules/") &&
      !path.includes("node_modules/warpmap/") &&
      // of device.uploadTable: in chunks that its first call loads
      !path.includes("node_modules/@uwdata/flechette/"),
  );
  const outputs = Object.values(metafile.outputs);
  const entry = outputs.find(({ entryPoint }) => entryPoint === "<stdin>");
  if (!entry) throw new Error("esbuild names no entry");
  const first = loadedWith(entry, metafile.outputs);
  const early = [...first]
    .flatMap(({ inputs }) => Object.keys(inputs))
    .filter((path) => path.includes("flechette"));
  strangers.push(...early);
  if (strangers.length > 0) throw new Error(`a bundle with StaticMap alone holds ${strangers.join(", ")}`);
}

/** A chunk and those that it imports before it runs. */
function loadedWith(chunk, outputs, seen = new Set()) {
  if (!chunk || seen.has(chunk)) return seen;
  seen.add(chunk);
  for (const { path, kind } of chunk.imports) {
    if (kind === "import-statement") loadedWith(outputs[path], outputs, seen);
  }
  return seen;
}

function runInNode(source) {
  project.node("--input-type=module", "--eval", source);
}
