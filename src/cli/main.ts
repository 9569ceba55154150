#!/usr/bin/env node
/**
 * The `warpmap` command: run() (program.ts) on this process's arguments and streams, with its signals and exit status.
 */
import { constants } from "node:os";
import { run } from "./program.js";

/** A command that was asked to stop is given this long to do so between two chunks of work. */
const GRACE = 2000; // milliseconds

const interrupt = new AbortController();
/** 128 + the signal, as shells have it. */
let stopped: number | undefined;
/** Whether the command ends its work after the first signal, however long that takes. */
let drains = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (stopped !== undefined) return end(signal, stopped);
    const status = 128 + constants.signals[signal];
    stopped = status;
    interrupt.abort();
    if (!drains) setTimeout(() => end(signal, status), GRACE).unref();
  });
}

/**
 * Ends the process after a signal, by that signal: process.exit() alone waits for the threads that open and read files,
 * and open() of a pipe that nobody writes to does not return.
 */
function end(signal: NodeJS.Signals, status: number): void {
  process.on("exit", () => {
    // behind the listeners that remove unfinished files
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  process.exit(status);
}

// A reader that has seen enough (`| head`) closes the pipe: that is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
  process.stderr.write(`warpmap: standard output cannot be written (${error.message}).\n`);
  process.stderr.write("hint: Make room where it leads, or name a file with --out.\n", () => process.exit(1));
});
// Nobody reads the errors: the status says that there was one.
process.stderr.on("error", () => {});

const status = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: interrupt.signal,
  drain: () => {
    drains = true;
  },
});
process.exitCode = drains ? status : (stopped ?? status);
