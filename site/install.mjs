// The site's own packages: installed when the site is first built, so that `npm ci` of the repository stays fast.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { site } from "./paths.mjs";

export function installed() {
  if (existsSync(join(site, "node_modules/vitepress"))) return;
  console.log("installing the site's packages");
  const npm = spawnSync("npm", ["--prefix", site, "ci"], {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) process.exit(npm.status ?? 1);
}
