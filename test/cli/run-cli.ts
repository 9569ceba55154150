/** The command line under test: in this process with streams that keep what is written, or as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Host, Output } from "../../src/cli/host.js";
import { run } from "../../src/cli/program.js";

export interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
  /** What was printed as bytes. */
  bytes?: Buffer;
}

interface Terminal {
  /** Columns of the terminal on stdout; none: stdout is a file or a pipe. */
  columns?: number;
  /** Whether stderr is a terminal. */
  progress?: boolean;
  env?: Host["env"];
  signal?: AbortSignal;
  /** What is on standard input. */
  stdin?: Uint8Array;
}

/** Runs the command in this process. */
export async function cli(args: readonly string[], terminal: Terminal = {}): Promise<Outcome> {
  const stdout = new Capture(terminal.columns);
  const stderr = new Capture(terminal.progress ? 80 : undefined);
  const { env = {}, signal = new AbortController().signal } = terminal;
  const stdin = Readable.from(terminal.stdin === undefined ? [] : [terminal.stdin]);
  const status = await run(args, { stdin, stdout, stderr, env, signal });
  const outcome: Outcome = { status, stdout: stdout.text, stderr: stderr.text };
  return Object.defineProperty(outcome, "bytes", { value: Buffer.concat(stdout.blocks), enumerable: false });
}

class Capture extends Writable implements Output {
  text = "";
  readonly blocks: Buffer[] = [];
  readonly isTTY: boolean;

  constructor(readonly columns: number | undefined) {
    super({ decodeStrings: false });
    this.isTTY = columns !== undefined;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    this.blocks.push(Buffer.from(chunk));
    done();
  }

  // what cli-progress asks of a terminal
  cursorTo(): void {}
  clearLine(): void {}
  moveCursor(): void {}
}

const BUILT = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Starts the built command as a process of its own. */
export function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  stdout: "pipe" | number = "pipe",
  stdin: "ignore" | "pipe" = "ignore",
): ChildProcess {
  if (!existsSync(BUILT)) throw new Error(`${BUILT} is not there: run npm run build first`);
  return spawn(process.execPath, [BUILT, ...args], { env, stdio: [stdin, stdout, "pipe"] });
}

/** What a process prints, and how it ends: by a signal is 128 and its number, as shells have it. */
export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const outcome: Outcome = { status: null, stdout: "", stderr: "" };
  child.stdout?.on("data", (text) => {
    outcome.stdout += text;
  });
  child.stderr?.on("data", (text) => {
    outcome.stderr += text;
  });
  outcome.status = await new Promise((resolve) => {
    child.on("close", (code, signal) => resolve(signal === null ? code : 128 + constants.signals[signal]));
  });
  return outcome;
}
