// npm start: the main job on real data. Joins 3 million flights with the airports they start from (both from the npm
// package vega-datasets) by the command line's own join, on the device that `auto` picks.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const data = resolve(createRequire(import.meta.url).resolve("vega-datasets"), "../../data");
const cli = join(root, "dist/cli/main.js");

if (!existsSync(cli)) {
  console.error("dist is not built yet: run npm run build first");
  process.exit(1);
}

const args = [
  "join",
  relative(process.cwd(), join(data, "flights-3m.parquet")),
  relative(process.cwd(), join(data, "airports.csv")),
  "--on",
  "origin=iata",
  ...process.argv.slice(2),
];
console.log(`$ warpmap ${args.join(" ")}\n`);
// The times go to stderr, which is shown in one place with the result.
const child = spawn(process.execPath, [cli, ...args], { stdio: ["inherit", "inherit", 1] });
process.on("SIGINT", () => {}); // the child gets it as well, and ends in its own way
child.on("exit", (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
