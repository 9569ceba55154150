// Draws the picture of a stored report: node bench/draw.mjs REPORT.json OUT.svg
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.mjs";

const [from, to, ...more] = process.argv.slice(2);
if (from === undefined || to === undefined || more.length > 0) {
  console.error("usage: node bench/draw.mjs REPORT.json OUT.svg");
  process.exit(2);
}

const figures = join(dirname(fileURLToPath(import.meta.url)), "figures/index.ts");
const { svgOf } = await bundle("draw", `export { svgOf } from ${JSON.stringify(figures)};`);
const report = JSON.parse(readFileSync(from, "utf8"));
const svg = svgOf(report);
if (svg === null) {
  console.error(`${from}: the benchmark ${report.bench} has no picture`);
  process.exit(1);
}
writeFileSync(to, svg);
