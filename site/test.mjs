// npm run site:test: builds the site, then looks at it: pages, links and search in Chromium, accessibility, code blocks; then tests the
// playground. With words after it only test files of the site that are so named, and `--built` takes site/dist as it is.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installed } from "./install.mjs";
import { out, root, site } from "./paths.mjs";

const args = process.argv.slice(2);
const words = args.filter((word) => word !== "--built");
installed();
const isBuilt = args.includes("--built") && existsSync(join(out, "index.html"));
if (!isBuilt) run(join(site, "build.mjs"));
run(
  join(root, "node_modules/vitest/vitest.mjs"),
  "run",
  "--config",
  join(site, "vitest.config.mjs"),
  ...words,
);
if (words.length === 0) run(join(site, "playground/test/run.mjs"));

function run(...command) {
  const { status } = spawnSync(process.execPath, command, { cwd: site, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
