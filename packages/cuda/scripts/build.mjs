// The JavaScript of warpmap-cuda: src/ to dist/, a part of `npm run build`. Its kernels: build-kernels.mjs.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import ts from "typescript";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const dist = join(root, "dist");

/** What importing it declares: nothing, since `gpu` is an option of warpmap's own types. */
const DECLARATIONS = `/** Importing this package registers the engine "cuda" with warpmap. */\nexport {};\n`;

/** Builds dist/, and leaves the kernels and the emulator as they are. */
export async function buildCuda() {
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(dist)) if (/\.(m?js|ts)$/.test(name)) rmSync(join(dist, name));
  await build({
    cwd: root,
    // they share the classes of tables
    input: { index: "src/index.ts", device: "src/device.ts" },
    platform: "node",
    external: [/^node:/, "koffi", "warpmap/engine"],
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    transform: { target: "es2022" },
    onLog(level, log) {
      if (level === "warn") throw new Error(log.message);
    },
    output: { dir: dist, format: "esm", chunkFileNames: "[name].js", minify: false },
  });
  // a thread's own file
  copyFileSync(join(root, "src/driver/waiter.mjs"), join(dist, "waiter.mjs"));
  writeFileSync(join(dist, "index.d.ts"), DECLARATIONS);
  writeFileSync(join(dist, "device.d.ts"), declarationsOf("src/device.ts"));
}

/** The declarations of one file whose exports name types of other packages alone. */
function declarationsOf(file) {
  const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(join(root, file), "utf8"), {
    fileName: file,
    compilerOptions: { stripInternal: true },
    reportDiagnostics: true,
  });
  if (diagnostics?.length) throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost({})));
  return outputText;
}
