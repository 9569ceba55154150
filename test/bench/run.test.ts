/** bench/run.mjs as a process: benchmarks from their sources, those that the package has not among them. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { expect, it } from "vitest";

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

it.each([
  [
    "a size that is no number",
    ["load-factor", "--size", "2^^3"],
    /^warpmap: --size "2\^\^3" is not .*\nhint: Write /,
  ],
  [
    "runs that are no number",
    ["load-factor", "--runs", "few"],
    /^warpmap: --runs "few" is not .*\nhint: Give /,
  ],
  [
    "a size it does not measure",
    ["load-factor", "--size", "1000", "--device", "cpu"],
    /^warpmap: load-factor does not measure .*\nhint: /,
  ],
  [
    "an entry of a key it does not measure",
    ["multimap", "--multiplicity", "8", "--size", "7", "--device", "cpu"],
    /^warpmap: multimap does not measure 7 entries.*\nhint: .*from 128/,
  ],
  [
    "a multiplicity it does not take",
    ["gups", "--multiplicity", "8", "--device", "cpu"],
    /^warpmap: The benchmark "gups" has no multiplicity\.\nhint: Leave out/,
  ],
  ["an option there is not", ["load-factor", "--fast"], /^Unknown option '--fast'.*\nusage: /],
  ["a benchmark there is not", ["nothing"], /^usage: .*\nNAME is one of: batch, .*, words, workers\.\n$/],
])("refuses %s in a line and a hint", async (_, args, message) => {
  const { status, stderr } = await runBench(...args);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain("    at ");
  expect(status).toBe(2);
});
