/** A build is left out only where it would make the dist/ that is there. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../io/temporary.js";

const path = temporaryFolder();
const module = new URL("../../scripts/build-stamp.mjs", import.meta.url).href;

it("asks for a build when a source or a built file is other, new or gone", async () => {
  const { isBuilt, stampBuild } = (await import(/* @vite-ignore */ module)) as {
    isBuilt(root: string): boolean;
    stampBuild(root: string): void;
  };
  const root = path("project");
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  const packages = ["cuda", "cluster"].flatMap((name) =>
    ["src", "scripts", "dist"].map((folder) => `packages/${name}/${folder}`),
  );
  for (const folder of ["src/engine", "bench", "scripts", "dist/chunks", ...packages])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"])
    write(file, "{}");
  for (const file of ["package.json", "tsconfig.json"]) write(`packages/cluster/${file}`, "{}");
  write("src/engine/a.ts", "1");
  write("dist/chunks/a.js", "1");
  expect(isBuilt(root)).toBe(false);
  stampBuild(root);
  expect(isBuilt(root)).toBe(true);
  for (const [file, was] of [
    ["src/engine/a.ts", "1"],
    ["dist/chunks/a.js", "1"],
    ["package-lock.json", "{}"],
  ]) {
    write(file, "2");
    expect(isBuilt(root), file).toBe(false);
    write(file, was);
    expect(isBuilt(root), file).toBe(true);
  }
  for (const file of ["src/b.ts", "dist/b.js"]) {
    write(file, "");
    expect(isBuilt(root), file).toBe(false);
    rmSync(join(root, file));
    expect(isBuilt(root), file).toBe(true);
  }
  rmSync(join(root, "dist"), { recursive: true });
  expect(isBuilt(root)).toBe(false);
});
