// The JavaScript and the declarations of warpmap-cluster: src/ to dist/, a part of `npm run build`.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { reachableDeclarations } from "../../../scripts/declarations.mjs";
import { tsc } from "../../../scripts/tsc.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const dist = join(root, "dist");

/** What users import, and the programs of worker processes. */
const ENTRIES = { index: "src/index.ts", child: "src/worker/child.ts", processor: "src/worker/processor.ts" };

/** Builds dist/. The declarations of warpmap are there. */
export async function buildCluster() {
  rmSync(dist, { recursive: true, force: true });
  await build({
    cwd: root,
    input: ENTRIES,
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !id.startsWith("src/"),
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    transform: { target: "es2022" },
    onLog(level, log) {
      if (level === "warn") throw new Error(log.message);
    },
    output: { dir: dist, format: "esm", chunkFileNames: "[name].js", minify: false },
  });
  declare();
}

function declare() {
  const made = mkdtempSync(join(tmpdir(), "warpmap-types-"));
  try {
    const args = [tsc, "-p", join(root, "tsconfig.json"), "--outDir", made];
    if (spawnSync(process.execPath, args, { stdio: "inherit" }).status !== 0) process.exit(1);
    const from = join(made, "packages/cluster/src");
    for (const file of reachableDeclarations(from, ["index"]))
      cpSync(file, join(dist, relative(from, file)), { recursive: true, force: true });
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
