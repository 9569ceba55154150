#!/usr/bin/env node
/** The `warpmap` command: run() (program.ts) on this process's arguments and streams, with its signals and exit status. */
import { INTERRUPTED, run } from "./program.js";

/** A command that was asked to stop is given this long to do so between two chunks of work. */
const GRACE = 2000; // milliseconds

const interrupt = new AbortController();

process.once("SIGINT", () => {
  interrupt.abort();
  setTimeout(() => process.exit(INTERRUPTED), GRACE).unref();
  process.once("SIGINT", () => process.exit(INTERRUPTED));
});

// A reader that has seen enough (`| head`) closes the pipe: that is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
}

process.exitCode = await run(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: interrupt.signal,
});
