/** bench/run.mjs as a process: benchmarks from their sources, those that the package has not among them. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import type { BenchModule } from "../../bench/report.js";
import { bench } from "../../src/cli/bench.js";
import { asCallError } from "../../src/cli/bench-call.js";
import { CallError } from "../../src/cli/failure.js";
import { covering } from "../helpers/rounds.js";

type Named = readonly [name: string, load: () => Promise<BenchModule>];
const loadFactor: Named = ["load-factor", () => import("../../bench/load-factor.js")];
const multimap: Named = ["multimap", () => import("../../bench/multimap.js")];
const gups: Named = ["gups", () => import("../../bench/gups.js")];
const root = resolve(import.meta.dirname, "../..");

function runBench(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const child = execFile(process.execPath, ["bench/run.mjs", ...args], { cwd: root }, (_, stdout, stderr) =>
      done({ status: child.exitCode, stdout, stderr }),
    );
  });
}

it("takes sizes as powers", async () => {
  const { status, stdout, stderr } = await runBench(
    "load-factor",
    "--size",
    "2^11",
    "--runs",
    "1",
    "--device",
    "cpu",
  );
  expect(stderr).toMatch(/^\nload-factor on /);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^ *load {2}on .*\n[─ ]+\n/);
});

const refused = [
  [
    "a size that is no number",
    ["load-factor", "--size", "2^^3"],
    /^warpmap: --size "2\^\^3" is not .*\nhint: Write /,
  ],
  ["an option there is not", ["load-factor", "--fast"], /^Unknown option '--fast'.*\nusage: /],
  ["a benchmark there is not", ["nothing"], /^usage: .*\nNAME is one of: batch, .*, words, workers\.\n$/],
] as const;
// each bundles the library first, and the command line has the same refusals below
it.each(covering(refused, () => false))("refuses %s in a line and a hint", async (_, args, message) => {
  const { status, stderr } = await runBench(...args);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain("    at ");
  expect(status).toBe(2);
});

// what bench/run.mjs does, in this process: another takes a second to bundle the library
it.each([
  ["runs that are no number", loadFactor, { runs: "few" }, /^--runs "few" is not/, /^Give /],
  ["a size it does not measure", loadFactor, { size: "1000" }, /^load-factor does not measure /, /from 1024/],
  [
    "an entry of a key it does not measure",
    multimap,
    { multiplicity: "8", size: "7" },
    /^multimap does not measure 7 entries/,
    /from 128/,
  ],
  [
    "a multiplicity it does not take",
    gups,
    { multiplicity: "8" },
    /^The benchmark "gups" has no multiplicity\.$/,
    /^Leave out/,
  ],
])("refuses %s with a hint", async (_, [name, load], options, problem, hint) => {
  const said: string[] = [];
  const output = { write: (text: string) => said.push(text) } as never;
  const signal = new AbortController().signal;
  const host = { stdin: output, stdout: output, stderr: output, env: {}, signal };
  const error = await bench(name, { device: "cpu", ...options }, host, {
    load,
    library: async () => "",
  }).catch(asCallError);
  expect(error).toBeInstanceOf(CallError);
  expect(error).toMatchObject({ problem: expect.stringMatching(problem), fix: expect.stringMatching(hint) });
});
