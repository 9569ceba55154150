// webpack, Vite, esbuild and Rollup, for production and with no more configuration than the target asks for. Each builds a
// program for Node, which then runs there on both engines, and a page. A warning fails the check.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { rollup, VERSION as rollupVersion } from "rollup";
import * as vite from "vite";
import webpack from "webpack";

/** Each builds `entry`, a path in `folder`, into `out`, and answers with its warnings. */
export const bundlers = [
  { name: `webpack ${webpack.version}`, build: withWebpack, entry: "program", output: "main.cjs" },
  { name: `Vite ${vite.version}`, build: withVite, entry: "program", isFast: true },
  { name: `esbuild ${esbuild.version}`, build: withEsbuild, entry: "program", isFast: true },
  { name: `Rollup ${rollupVersion}`, build: withRollup, entry: "program-without-await" },
];

/** The native module of the package `webgpu`, which no bundle may hold. */
const NATIVE = /dawn\.node/;

/** @param project with the package `webgpu`, and fixtures/ as src/ */
export async function checkBundler(project, { name, build, entry, output = `${entry}.js` }) {
  const { folder } = project;
  const outOf = (target) => join(folder, `out-${target}-${name.split(" ")[0]}`);
  for (const target of ["node", "web"]) {
    const out = outOf(target);
    const inNode = target === "node";
    const warnings = await build({ folder, entry: `./src/${inNode ? entry : "page"}.js`, out, inNode });
    if (warnings.length > 0) throw new Error(`for ${target}:\n${warnings.join("\n")}`);
    const scripts = readdirSync(out, { recursive: true }).filter((path) => /js$/.test(path));
    const native = scripts.filter((path) => NATIVE.test(readFileSync(join(out, path), "utf8")));
    if (native.length > 0) throw new Error(`for ${target}: the package webgpu is in ${native.join(", ")}`);
  }
  const printed = project.node(join(outOf("node"), output)).trim();
  if (printed !== "cpu webgpu join, csv tsv parquet arrow") throw new Error(`the program prints: ${printed}`);
}

async function withWebpack({ folder, entry, out, inNode }) {
  const compiler = webpack({
    mode: "production",
    context: folder,
    entry,
    target: inNode ? "node20" : "web",
    // the project's .js files are ES modules, and webpack's for Node are not
    output: { path: out, ...(inNode && { filename: "[name].cjs", chunkFilename: "[id].cjs" }) },
    // it takes most of the time, and sees nothing that the check is for
    optimization: { minimize: false },
    performance: { hints: false },
  });
  const stats = await new Promise((done, fail) => {
    compiler.run((error, result) => (error ? fail(error) : done(result)));
  });
  await new Promise((done) => compiler.close(done));
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  return [...errors, ...warnings].map(({ moduleName, message }) => `${moduleName}: ${message}`);
}

async function withVite({ folder, entry, out, inNode }) {
  const warnings = [];
  await vite.build({
    ...quietVite(folder, warnings),
    build: {
      outDir: out,
      ...(inNode ? { ssr: entry } : { rollupOptions: { input: join(folder, entry) } }),
    },
    ...(inNode && { ssr: { noExternal: true } }),
  });
  return warnings;
}

/** Options with which Vite reads no configuration, prints nothing, and adds its warnings to a list. */
export function quietVite(root, warnings) {
  const warn = (message) => warnings.push(message);
  const customLogger = { ...vite.createLogger("silent"), warn, warnOnce: warn, error: warn };
  return { root, configFile: false, envDir: false, logLevel: "warn", customLogger };
}

async function withEsbuild({ folder, entry, out, inNode }) {
  const { warnings } = await esbuild.build({
    absWorkingDir: folder,
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: inNode ? "node" : "browser",
    outdir: out,
    logLevel: "silent",
  });
  return warnings.map(({ text, location }) => `${location?.file}: ${text}`);
}

async function withRollup({ folder, entry, out, inNode }) {
  const warnings = [];
  const bundle = await rollup({
    input: join(folder, entry),
    plugins: [nodeResolve(inNode ? { exportConditions: ["node"] } : { browser: true })],
    onLog: (level, { message }) => level === "warn" && warnings.push(message),
  });
  await bundle.write({ dir: out, format: "es" });
  await bundle.close();
  return warnings;
}
