// What npm run mutants leaves behind when it is stopped: nothing. Programs that it runs, and what they started, end with it, and its
// temporary folders are removed. A program must be awaited: while a synchronous call runs, no signal is heard.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Programs that run. Each leads a process group of its own, where there are such. */
const running = new Set();
const hasGroups = process.platform !== "win32";

process.on("exit", () => {
  for (const program of running) end(program);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

/** Makes a folder that is there until this process ends. */
export function temporaryFolder(prefix) {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  // a program that ends may still be writing a file
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Runs Node in silence. Resolves with its exit status, or with "timeout" when it was ended after so many milliseconds. */
export async function runNode(args, cwd, limitMs) {
  const program = spawn(process.execPath, args, { cwd, stdio: "ignore", detached: hasGroups });
  running.add(program);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    end(program);
  }, limitMs);
  try {
    const [status] = await once(program, "exit");
    return timedOut ? "timeout" : status;
  } finally {
    clearTimeout(timer);
    running.delete(program);
  }
}

function end(program) {
  try {
    if (hasGroups) process.kill(-program.pid, "SIGKILL");
    else program.kill();
  } catch (error) {
    if (error.code !== "ESRCH") throw error; // it ended by itself
  }
}
