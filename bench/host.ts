/** What Node says of the machine that a benchmark runs on. The playground has a module of its own in place of this one. */
import { execFileSync } from "node:child_process";
import { cpus, type as osName, release, totalmem } from "node:os";
import type { BenchReport } from "./report.js";

export function hostFacts(): Pick<BenchReport, "machine" | "node" | "commit"> {
  const [cpu] = cpus();
  const processor = `${cpu?.model.trim() ?? process.arch} × ${cpus().length}`;
  return {
    machine: `${processor}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${osName()} ${release()}`,
    node: process.version,
    commit: commit(),
  };
}

/** For all reports of a process: Git takes as long as a small benchmark. */
let found: string | null | undefined;

function commit(): string | null {
  if (found === undefined) found = findCommit();
  return found;
}

/** The environment variable WARPMAP_COMMIT names the commit where there is a build and no checkout. */
function findCommit(): string | null {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  try {
    // a build inside another project's node_modules must not answer that project's commit
    if (git("ls-files", ":/src/engine/engine.ts") === "") throw new Error("not this checkout");
    const changed = git("status", "--porcelain", "--untracked-files=no");
    return git("rev-parse", "--short=12", "HEAD") + (changed ? "-dirty" : "");
  } catch {
    return process.env.WARPMAP_COMMIT ?? null;
  }
}
