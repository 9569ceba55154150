/**
 * Reads files in a process of its own, with a limit on time and memory: a damaged file may hang or kill what reads it, and
 * that must fail one case and not the whole run.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { bundleProgram } from "./bundle.js";

/** Stands for every value but null. */
export const ANY = "\u0000any";

export interface Question {
  readonly file: string;
  /** For DuckDB: what to run in place of reading the whole file. */
  readonly sql?: string;
}

export interface Answer {
  /** Every column's values as text. */
  readonly columns?: (string | null)[][];
  readonly error?: string;
  /** The error is one of warpmap's classes. */
  readonly inWords?: boolean;
  /** Most memory that the process ever had, in bytes. */
  readonly maxRss: number;
}

/** Milliseconds for one file of some kilobytes. The machine may be busy. */
const TIME_LIMIT = 10_000;
const HEAP_LIMIT = 512; // MiB

const root = resolve(import.meta.dirname, "../../..");
const bundle = resolve(root, `node_modules/.cache/warpmap/fuzz-reader-${process.pid}.mjs`);
let built: Promise<unknown> | undefined;

function buildReader(): Promise<unknown> {
  mkdirSync(resolve(bundle, ".."), { recursive: true });
  built ??= bundleProgram(resolve(import.meta.dirname, "reader.ts"), bundle);
  return built;
}

export class Reader {
  #child: ChildProcess | undefined;

  constructor(readonly engine: "warpmap" | "duckdb" | "apache-arrow") {}

  /** What is in a file. A process that hangs or dies is an answer, too, and the next file gets a new one. */
  async read(question: Question): Promise<Answer> {
    const child = await this.#running();
    const answer = await new Promise<Answer>((done) => {
      const timer = setTimeout(() => done({ error: "HUNG", maxRss: 0 }), TIME_LIMIT);
      const died = (code: number | null) => done({ error: `DIED (${code})`, maxRss: 0 });
      child.once("exit", died);
      child.once("message", (message) => {
        clearTimeout(timer);
        child.off("exit", died);
        done(message as Answer);
      });
      child.send(question);
    });
    if (/^HUNG|^DIED/.test(answer.error ?? "")) this.stop();
    return answer;
  }

  stop(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  async #running(): Promise<ChildProcess> {
    if (this.#child) return this.#child;
    await buildReader();
    const child = fork(bundle, [this.engine], {
      execArgv: [`--max-old-space-size=${HEAP_LIMIT}`],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    await new Promise((ready) => child.once("message", ready));
    this.#child = child;
    return child;
  }
}
