// npm run check:package: what `npm pack` holds, installed into an empty project, is used the way strangers use it: imported
// and run in Node, started from the command line, type-checked by TypeScript, bundled for a browser. Reads dist.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { reachableDeclarations } from "./declarations.mjs";

/** What each subpath has to export. */
const EXPORTS = {
  warpmap: ["openDevice", "StaticMap", "StaticSet"],
  "warpmap/relational": ["join"],
  "warpmap/wgsl": ["mapModule"],
};

const root = resolve(fileURLToPath(import.meta.url), "../..");
const require = createRequire(import.meta.url);
const temporary = mkdtempSync(join(tmpdir(), "warpmap-package-"));
const project = join(temporary, "project");
let failures = 0;

try {
  const files = pack();
  check("holds dist, the licence and nothing of the repository", () => assertFiles(files));
  check("installs into an empty project", install);
  check("shows no engine in its declarations", assertNoEngine);
  check("imports in Node without touching navigator or native modules", importAll);
  check("works in Node: CPU engine, worker threads, a process that ends by itself", useInNode);
  check("starts as a command", startCommand);
  check("type-checks under NodeNext, with DOM types", () => typeCheck("nodenext", ["ES2022", "DOM"], []));
  check("type-checks under NodeNext, without DOM types", () => typeCheck("nodenext", ["ES2022"], ["node"]));
  check("type-checks under a bundler's resolution", () => typeCheck("bundler", ["ES2022", "DOM"], []));
  await checkAsync("bundles for a browser with no configuration", bundleForBrowser);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
process.exit(failures > 0 ? 1 : 0);

function check(title, test) {
  try {
    test();
    console.log(`ok      ${title}`);
  } catch (error) {
    report(title, error);
  }
}

async function checkAsync(title, test) {
  try {
    await test();
    console.log(`ok      ${title}`);
  } catch (error) {
    report(title, error);
  }
}

function report(title, error) {
  failures++;
  console.error(
    `FAILED  ${title}\n${[error.stdout, error.stderr, error.message].filter(Boolean).join("\n")}\n`,
  );
}

/** `prepare` would build again, so scripts stay off. */
function pack() {
  mkdirSync(project);
  const output = npm(root, "pack", "--json", "--ignore-scripts", "--pack-destination", temporary);
  const [{ filename, files }] = Object.values(JSON.parse(output));
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  pack.tarball = join(temporary, filename);
  return files.map(({ path }) => path);
}

function assertFiles(files) {
  const expected = /^(dist\/.*\.(js|js\.map|d\.ts)|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
  const strangers = files.filter((path) => !expected.test(path));
  if (strangers.length > 0) throw new Error(`unexpected files: ${strangers.join(", ")}`);
  for (const path of [
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "dist/index.js",
    "dist/index.d.ts",
    "dist/cli/main.js",
  ]) {
    if (!files.includes(path)) throw new Error(`missing: ${path}`);
  }
}

function install() {
  npm(project, "install", "--no-audit", "--no-fund", "--ignore-scripts", pack.tarball);
}

/** Engines are behind the seam: what users can reach names EngineInfo and EngineError, and no `Engine`. */
function assertNoEngine() {
  const dist = join(project, "node_modules/warpmap/dist");
  const shown = [];
  for (const file of reachableDeclarations(dist)) {
    for (const [i, line] of readFileSync(file, "utf8").split("\n").entries())
      if (/\bEngine\b/.test(line)) shown.push(`${relative(dist, file)}:${i + 1}: ${line.trim()}`);
  }
  if (shown.length > 0) throw new Error(shown.join("\n"));
}

function importAll() {
  node(`
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

/** A million keys: enough for the worker threads, whose source is text inside dist. */
function useInNode() {
  node(`
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
  `);
}

function startCommand() {
  execFileSync("npm", ["exec", "--offline", "--", "warpmap", "devices"], {
    cwd: project,
    encoding: "utf8",
    stdio: "pipe",
  });
}

/** skipLibCheck is off: the package's own declarations are checked as well. */
function typeCheck(resolution, lib, types) {
  writeFileSync(
    join(project, "consumer.ts"),
    `import { openDevice, StaticMap } from "warpmap";
     import * as relational from "warpmap/relational";
     import * as wgsl from "warpmap/wgsl";
     const device = await openDevice({ backend: "cpu" });
     const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 10 });
     const { inserted } = await map.insert(new Uint32Array(3), new Uint32Array(3));
     const count: number = inserted;
     // @ts-expect-error: the declarations are there, so a wrong call is an error
     await StaticMap.create(device, { key: "u32", value: "u32", capacity: "ten" });
     export { count, relational, wgsl };`,
  );
  const options = {
    strict: true,
    noEmit: true,
    target: "es2022",
    module: resolution === "bundler" ? "esnext" : resolution,
    moduleResolution: resolution,
    lib,
    types,
    typeRoots: [join(root, "node_modules/@types")],
    skipLibCheck: false,
  };
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, files: ["consumer.ts"] }),
  );
  try {
    execFileSync(process.execPath, [require.resolve("typescript/bin/tsc"), "-p", project], {
      encoding: "utf8",
      stdio: "pipe",
    });
  } catch (error) {
    // flechette's own declarations have an error under skipLibCheck: false, which is not ours to answer for
    const ours = error.stdout
      .split("\n")
      .filter((line) => line.trim() && !line.includes("node_modules/@uwdata/"));
    if (ours.length > 0) throw error;
  }
}

/** Nothing is marked external: an import that only Node can answer would stop the bundler. */
async function bundleForBrowser() {
  const { metafile, warnings } = await build({
    stdin: {
      contents: `import { openDevice, StaticMap } from "warpmap"; console.log(openDevice, StaticMap);`,
      resolveDir: project,
    },
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    outdir: join(project, "out"),
    logLevel: "silent",
  });
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join("\n"));
  const strangers = Object.keys(metafile.inputs).filter(
    (path) => path.includes("node_modules/") && !path.includes("node_modules/warpmap/"),
  );
  if (strangers.length > 0) throw new Error(`a bundle with StaticMap alone holds ${strangers.join(", ")}`);
}

function npm(cwd, ...args) {
  const options = { cwd, encoding: "utf8", stdio: "pipe", shell: process.platform === "win32" };
  return execFileSync("npm", args, options);
}

function node(source) {
  execFileSync(process.execPath, ["--input-type=module", "--eval", source], {
    cwd: project,
    encoding: "utf8",
    stdio: "pipe",
    timeout: 60_000,
  });
}
