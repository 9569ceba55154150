// Checks the playground's types, builds it and tests it in Chromium: node site/playground/test/run.mjs [NAME]. A NAME picks one file, as in `try`.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "../build.mjs";
import { built, here, root } from "./helpers.mjs";

const types = [join(root, "node_modules/typescript/bin/tsc"), "-p", join(root, "site/playground")];
if (spawnSync(process.execPath, types, { stdio: "inherit" }).status !== 0) process.exit(1);
await build(built);
const wanted = process.argv[2] ?? "";
const files = readdirSync(here).filter((name) => name.endsWith(".test.mjs") && name.startsWith(wanted));
// one after the other: each has a browser, and a GPU that the CPU emulates
const { status } = spawnSync(
  process.execPath,
  ["--test", "--test-concurrency=1", ...files.map((name) => join(here, name))],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
