/**
 * Reads many damaged files in a process that is started again where it dies, hangs, or takes too much memory: each of these is a
 * failure of one file, which its seed names.
 */
import { fork } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Format } from "../../../src/io/index.js";
import { bundleProgram } from "./bundle.js";

export interface ManyResult {
  /** Seeds with what went wrong. */
  readonly failures: string[];
  read: number;
  refused: number;
}

/** Milliseconds that one file may take. The machine may be busy. */
const TIME_LIMIT = 10_000;
const HEAP_LIMIT = 768; // MiB

const cache = resolve(import.meta.dirname, "../../../node_modules/.cache/warpmap");

type Message =
  | { readonly counts: { readonly read: number; readonly refused: number } }
  | { readonly seed: number; readonly name: string; readonly problem: string };

/** Damages the files of a folder by the seeds `from` to `to`, in turn, and reads them. */
export async function readManyDamaged(
  folder: string,
  format: Format,
  from: number,
  to: number,
  onFailure: (failure: string) => void = () => {},
): Promise<ManyResult> {
  mkdirSync(cache, { recursive: true });
  const program = resolve(cache, `many-${process.pid}.mjs`);
  const progress = resolve(cache, `many-${process.pid}-${format}.seed`);
  await bundleProgram(resolve(import.meta.dirname, "many.ts"), program);
  const result: ManyResult = { failures: [], read: 0, refused: 0 };
  const fail = (failure: string) => {
    result.failures.push(failure);
    onFailure(failure);
  };
  const seedNow = () => Number(readFileSync(progress, "utf8"));
  for (let at = from; at < to; ) {
    const file = openSync(progress, "w+");
    const child = fork(program, [folder, format, `${at}`, `${to}`], {
      execArgv: [`--max-old-space-size=${HEAP_LIMIT}`],
      stdio: ["ignore", "ignore", "ignore", file, "ipc"],
    });
    let isDone = false;
    let lastSeed = -1;
    let since = Date.now();
    const watchdog = setInterval(() => {
      const seed = seedNow();
      if (seed !== lastSeed) since = Date.now();
      else if (Date.now() - since > TIME_LIMIT) child.kill("SIGKILL");
      lastSeed = seed;
    }, TIME_LIMIT / 20);
    child.on("message", (message: Message) => {
      if ("counts" in message) {
        isDone = true;
        result.read += message.counts.read;
        result.refused += message.counts.refused;
      } else fail(`${message.name}, seed ${message.seed}: ${message.problem}`);
    });
    const ended = await new Promise((done) => {
      child.once("exit", (code, signal) => done(signal ?? code));
    });
    clearInterval(watchdog);
    const seed = seedNow();
    closeSync(file);
    if (isDone) break;
    fail(`seed ${seed}: the process ended (${ended})`);
    at = seed + 1;
  }
  rmSync(program);
  rmSync(progress);
  return result;
}
