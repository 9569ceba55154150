/** What stands above the seam names nothing of what is below it: no type, flag or limit of a GPU API, no engine's name in a condition. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const SRC = resolve(import.meta.dirname, "../../src");
/** Folders that know no engine; of `engine` its top level alone. */
const FOLDERS = ["containers", "relational", "arrow", "sketches", "cli"];
const named = /\bGPU[A-Z]\w*|\bCOPY_(?:SRC|DST)\b|\bmaxStorageBufferBindingSize\b/g;
const conditions = /[!=]==? *"(?:webgpu|cpu)"|"(?:webgpu|cpu)" *[!=]==?|case "(?:webgpu|cpu)"/g;

const filesIn = (folder: string, recursive: boolean) =>
  readdirSync(join(SRC, folder), { recursive, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join(folder, path));

it("names no GPU API and asks for no engine by name", () => {
  const files = [
    ...FOLDERS.flatMap((folder) => filesIn(folder, true)),
    ...filesIn("engine", false),
    ...filesIn("", false).filter((path) => !path.endsWith(".d.ts")),
  ];
  const found = files.flatMap((path) => {
    const text = readFileSync(join(SRC, path), "utf8");
    return [...text.matchAll(named), ...text.matchAll(conditions)].map(([name]) => `${path}: ${name}`);
  });
  expect(files.length).toBeGreaterThan(200);
  expect(found).toEqual([]);
});
