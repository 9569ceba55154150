import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

const path = temporaryFolder();

it.each(["gups", "static-map"])("runs %s, prints its table and keeps its numbers", async (name) => {
  const out = path(`${name}.json`);
  const { status, stdout } = await cli(["bench", name, "--size", "2^12", "--device", "cpu", "--json", out]);
  expect(status).toBe(0);
  const [head, rule, ...rows] = stdout.trimEnd().split("\n");
  expect(head).toMatch(/operation/);
  expect(rule).toMatch(/^[─ ]+$/);
  const report = JSON.parse(readFileSync(out, "utf8"));
  expect(report).toMatchObject({ bench: name, node: process.version, rows: expect.any(Array) });
  expect(report.rows.length).toBe(rows.length);
  expect(Date.parse(report.date)).toBeGreaterThan(0);
});

it("says that it cannot keep the numbers before it measures", async () => {
  const { status, stderr } = await cli([
    "bench",
    "gups",
    "--device",
    "cpu",
    "--json",
    path("no/folder.json"),
  ]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/folder\.json: no such file or directory/);
});
