// npm run mutants [-- NAME ...]: applies deliberate faults (scripts/mutants/) one at a time to a temporary copy of the tree, runs
// the tests that must catch each, and prints a table. Exit status 1 if a fault survives. NAME takes the faults whose names begin
// with it. Each test file also runs once without a fault: one that fails then would catch anything.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { faults, withFault } from "./mutants/index.mjs";
import { runNode, temporaryFolder } from "./mutants/processes.mjs";

/** A fault may make a test hang: tests that take longer than this caught it. */
const LIMIT_MS = 300_000;

const root = fileURLToPath(new URL("..", import.meta.url));
const names = process.argv.slice(2);
const chosen = faults.filter(
  ({ name }) => names.length === 0 || names.some((start) => name.startsWith(start)),
);
if (chosen.length === 0) {
  console.error(
    `No fault begins with ${names.join(" or ")}. There are: ${faults.map(({ name }) => name).join(", ")}.`,
  );
  process.exit(2);
}

const copy = temporaryFolder("warpmap-mutants-");
let survived = 0;

copyTree();
/** Seconds that a set of test files takes without a fault, or why it is of no use. */
const unharmed = new Map();
const width = Math.max(...chosen.map(({ name }) => name.length));
console.log(`${"fault".padEnd(width)}  result    seconds  tests`);
for (const fault of chosen) {
  const { result, seconds } = await attempt(fault);
  if (result !== "caught") survived++;
  const tests = `${fault.project}: ${fault.tests.map((file) => file.replace(/^test\//, "")).join(" ")}`;
  console.log(
    `${fault.name.padEnd(width)}  ${result.padEnd(8)}  ${seconds.toFixed(1).padStart(7)}  ${tests}`,
  );
  if (result !== "caught") console.log(`  ${fault.what} (${fault.file})`);
}
console.log(`${chosen.length} faults, ${chosen.length - survived} caught, ${survived} survived`);
process.exitCode = survived > 0 ? 1 : 0;

/** Tracked files and new ones that git does not ignore, as they are now; packages and dist are shared. */
function copyTree() {
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (listed.status !== 0) throw new Error(`git ls-files failed: ${listed.stderr}`);
  for (const file of listed.stdout.split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  for (const shared of ["node_modules", "dist"]) symlinkSync(join(root, shared), join(copy, shared));
}

async function attempt(fault) {
  const group = `${fault.project} ${fault.tests}`;
  if (!unharmed.has(group)) unharmed.set(group, await runTests(fault));
  const before = unharmed.get(group);
  if (before.outcome !== "passed") return { result: `${before.outcome} without it`, seconds: before.seconds };
  const path = join(copy, fault.file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, withFault(fault, text));
  try {
    const { outcome, seconds } = await runTests(fault);
    return { result: outcome === "failed" ? "caught" : outcome === "passed" ? "survived" : outcome, seconds };
  } finally {
    writeFileSync(path, text);
  }
}

/** "passed", "failed" when a test failed or hung, "broken" when no test ran. */
async function runTests({ project, tests }) {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const start = performance.now();
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const args = [
    vitest,
    "run",
    "--project",
    project,
    "--bail",
    "1",
    "--reporter",
    "json",
    "--outputFile",
    report,
  ];
  const status = await runNode([...args, ...tests], copy, LIMIT_MS);
  const seconds = (performance.now() - start) / 1000;
  return { outcome: status === "timeout" ? "failed" : outcomeOf(report, status), seconds };
}

function outcomeOf(report, status) {
  let counts;
  try {
    counts = JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return "broken";
  }
  if (counts.numFailedTests > 0) return "failed";
  return status === 0 && counts.numPassedTests > 0 ? "passed" : "broken";
}
