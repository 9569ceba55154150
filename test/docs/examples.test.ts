/** The examples that need no GPU, run as they stand. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { runProgram } from "../helpers/run-program.js";

const root = resolve(import.meta.dirname, "../..");

it("examples/word-count.mjs counts the words of a text", async () => {
  const program = readFileSync(resolve(root, "examples/word-count.mjs"), "utf8");
  const { status, stdout, stderr } = await runProgram(program, [resolve(root, "README.md"), "3"]);
  expect(status, stderr).toBe(0);
  const words =
    readFileSync(resolve(root, "README.md"), "utf8")
      .toLowerCase()
      .match(/\p{Letter}+/gu) ?? [];
  const the = words.filter((word) => word === "the").length;
  expect(stdout).toContain(`${3 * the} the\n`);
  expect(stdout).toContain(`${3 * words.length} words, ${new Set(words).size} different ones`);
});
