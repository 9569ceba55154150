// npm test: every feature on every engine, with nothing but what npm installed. The last lines name the tests that failed,
// and say how many passed; a step that fails without a failed test in it (build, types, sizes, package) counts as one failed.
//
//   npm test                                 all steps
//   npm test -- --project cpu hash           build, then Vitest alone, with these arguments
//   npm run test:quick [-- ARGUMENTS]        units and the CPU engine, from sources: Vitest alone, without a build
//   npm run test:long [-- ARGUMENTS]         everything on every engine and host, with many more rounds of randomised tests
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildEmulator } from "../packages/cuda/scripts/emulator.mjs";
import { describeSoftwareGpu, missingBrowserLibraries, softwareGpuEnv } from "./software-gpu.mjs";
import { tsc } from "./tsc.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const isLong = process.argv[2] === "--long";
const isQuick = process.argv[2] === "--quick";
const vitestArgs = process.argv.slice(isLong || isQuick ? 3 : 2);
const everything = vitestArgs.length === 0;

console.log(describeSoftwareGpu());
const env = {
  ...process.env,
  ...softwareGpuEnv(),
  ...(isLong && { WARPMAP_TEST_LONG: "1" }),
  ...(isQuick && { WARPMAP_TEST_QUICK: "1" }),
};
const missing = missingBrowserLibraries();
warnOfMissingLibraries();

/** Whether the stand-in for the CUDA driver is built, on which the projects of warpmap-cuda run. */
const hasCuda = !isQuick && buildEmulator();

/**
 * A Vitest each, in one process: kernels are compiled once in each, which takes most of a GPU project's time. In this order, as many at
 * once as keep the cores busy while some wait for the GPU or for a browser; those that take longest come first, so that
 * none is left alone in the end. Checks come between long projects and short ones.
 */
const TESTS = [
  ["webgpu"],
  ["cluster"],
  ["cpu", "--shard=1/2"],
  ["cpu", "--shard=2/2"],
  ["browser"],
  ...(hasCuda ? [["cuda"], ["cuda-several"], ["cuda-engine"]] : []),
  ["webgpu-partitioned"],
];
const SHORT_TESTS = hasCuda ? [["cuda-partitioned"]] : [];
const LINES_OF_FAILURE = 6;
const AT_ONCE = Math.max(3, availableParallelism());

let passed = 0;
let failed = 0;
/** A line for each failed test or step, and the first lines of what it said. */
const failures = [];

const asProject = (args) => () => project(...args);
const jobs = [
  ...TESTS.map(asProject),
  () => step("packed package", "scripts/check-package.mjs", ...(isLong ? [] : ["--short"])),
  () => step("types", tsc, "-p", "tsconfig.json"),
  () => step("kernels of warpmap-cuda", "packages/cuda/scripts/build-kernels.mjs", "--check"),
  ...SHORT_TESTS.map(asProject),
  () => step("bundle size", "scripts/check-size.mjs"),
];

if (!isQuick) await step("build", "scripts/build.mjs", "--if-changed");
if (isQuick) await vitest(["--project", "cpu", ...vitestArgs]);
else if (everything) await inTurn(jobs);
else await vitest(vitestArgs);
warnOfMissingLibraries();
if (failures.length > 0) console.log(`\n== failed\n${failures.join("\n")}`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Said first and again last: between them the browser's own message is long, and says less. */
function warnOfMissingLibraries() {
  if (missing.length === 0) return;
  console.error(`the browser tests cannot run: system libraries are missing: ${missing.join(", ")}`);
}

/** Runs a program of Node. What it says is shown when it has ended, so that steps can run at once. */
async function step(title, ...args) {
  const seconds = -performance.now() / 1000;
  const program = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  const said = [];
  for (const stream of [program.stdout, program.stderr]) stream.on("data", (data) => said.push(data));
  const [status] = await once(program, "close");
  console.log(`\n== ${title}\n${Buffer.concat(said)}`);
  if (status !== 0) {
    failed++;
    failures.push(`${title}: FAILED`);
    console.error(failures.at(-1));
  }
  console.log(`${title}: ${(seconds + performance.now() / 1000).toFixed(1)} s`);
}

/** Runs jobs, AT_ONCE of them at a time, each as soon as one before it has ended. */
async function inTurn(jobs) {
  const waiting = jobs.values();
  const lane = async () => {
    for (const job of waiting) await job();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function project(name, ...args) {
  const seconds = -performance.now() / 1000;
  await vitest(["--project", name, ...args], { env: { ...env, VITEST_MAX_WORKERS: "1" }, stdio: "pipe" });
  console.log(`\n${[name, ...args].join(" ")}: ${(seconds + performance.now() / 1000).toFixed(1)} s`);
}

/** Runs a Vitest, and counts its tests. Several at once write no live summaries: their output is a pipe. */
async function vitest(vitestArgs, options = { env, stdio: "inherit" }) {
  const folder = mkdtempSync(join(tmpdir(), "warpmap-test-"));
  const report = join(folder, "report.json");
  const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...vitestArgs];
  const program = join(root, "node_modules/vitest/vitest.mjs");
  const running = spawn(process.execPath, [program, ...args], { cwd: root, ...options });
  running.stdout?.pipe(process.stdout, { end: false });
  running.stderr?.pipe(process.stderr, { end: false });
  const [status] = await once(running, "close");
  const {
    numPassedTests = 0,
    numFailedTests = 0,
    numPendingTests = 0,
    testResults = [],
  } = readReport(report);
  rmSync(folder, { recursive: true });
  const count = numFailedTests + testResults.filter(failedToLoad).length;
  passed += numPassedTests;
  failed += status !== 0 ? Math.max(count, 1) : count;
  failures.push(...testResults.flatMap(failuresOf));
  if (status !== 0 && count === 0) failures.push(`vitest ${vitestArgs.join(" ")}: exit code ${status}`);
  if (numPendingTests > 0) console.log(`${numPendingTests} skipped`);
}

/** A file in which no test failed, because none ran. */
function failedToLoad({ status, assertionResults }) {
  return status === "failed" && assertionResults.every((test) => test.status !== "failed");
}

function failuresOf(file) {
  const told = failedToLoad(file) ? [{ fullName: "(the file itself)", failureMessages: [file.message] }] : [];
  const tests = file.assertionResults.filter((test) => test.status === "failed");
  return [...told, ...tests].map(({ fullName, failureMessages: [message = ""] }) => {
    const lines = message.split("\n").filter((line) => !/node_modules|node:internal/.test(line));
    const firstLines = lines.slice(0, LINES_OF_FAILURE).join("\n  ");
    return `${relative(root, file.name)}: ${fullName}\n  ${firstLines}`;
  });
}

/** A Vitest that crashed leaves no report, or half of one. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}
