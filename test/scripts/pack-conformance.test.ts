import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

it("the conformance suite becomes one file, which runs without Vitest", () => {
  execFileSync(process.execPath, ["scripts/pack-conformance.mjs"], { cwd: root, stdio: "pipe" });
  const file = join(root, "dist-test/conformance.mjs");
  expect(existsSync(file)).toBe(true);
  const env = { ...process.env, WARPMAP_TEST_BACKEND: "cpu" };
  // the second has random sequences, whose length the context tells
  const files = ["signals", "bloom-filter"];
  const said = execFileSync(process.execPath, [file, ...files], { cwd: root, env, encoding: "utf8" });
  expect(said).toMatch(/^[1-9]\d* passed, 0 failed$/m);
}, 120_000);
