/** A bundle with short names, as pages have it: errors and messages name classes as the sources do. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
const cache = join(root, "node_modules/.cache/warpmap");
/** Every class of errors in src/. */
const classes = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .flatMap((path) => {
    const text = readFileSync(join(root, "src", path), "utf8");
    return Array.from(text.matchAll(/^export class (\w+) extends WarpmapError /gm), ([, name]) => ({
      name,
      path,
    }));
  });

let folder: string;
/** The bundle's exports. */
let bundled: Record<string, new (...args: unknown[]) => Error> &
  Pick<
    typeof import("../src/index.js") & typeof import("../src/relational/index.js"),
    "openDevice" | "StaticMap" | "JoinIndex"
  >;

beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "minified-"));
  const lines = classes.map(({ name, path }) => `export { ${name} } from "./src/${path}";`);
  lines.push(`export { openDevice, StaticMap } from "./dist/index.js";`);
  lines.push(`export { JoinIndex } from "./dist/relational/index.js";`);
  const outfile = join(folder, "bundle.mjs");
  await build({
    stdin: { contents: lines.join("\n"), resolveDir: root },
    outfile,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    packages: "external",
  });
  bundled = await import(pathToFileURL(outfile).href);
});
afterAll(() => rmSync(folder, { recursive: true }));

it("has short names", () => expect(bundled.CapacityError.name).not.toBe("CapacityError"));

it.each(classes)("an error is named $name", ({ name }) => {
  const error = new bundled[name]({}, [], "", "");
  expect(error.name).toBe(name);
  expect(String(error)).toMatch(new RegExp(`^${name}: `));
  // a class of the user's is one of these too
  const OwnError = class extends bundled[name] {};
  expect(new OwnError({}, [], "", "").name).toBe(name);
});

it("messages name what a wrong argument is", async () => {
  const device = await bundled.openDevice({ backend: "cpu", threads: 1 });
  const map = await bundled.StaticMap.create(device, { key: "u32", value: "u32", capacity: 1 });
  const table = await device.uploadTable({ a: Int32Array.of(1) });
  const index = await bundled.JoinIndex.create(device, { a: [1] }, { on: ["a"] });
  for (const [value, words] of [
    [device, "not a Device."],
    [map, "not a StaticMap."],
    [table, "not a DeviceTable."],
    [table.getChild("a"), "not a DeviceTableColumn."],
    [index, "not a JoinIndex."],
    [new Date(), "not a Date."],
    [{}, "not an Object."],
    [Object.create(null), "not an object."],
  ] as const)
    await expect(device.upload(value as never)).rejects.toThrow(words);
  device.destroy();
});
