/**
 * How a command fails: exit status 2 for a wrong call, 1 for an error in the data or the run; on stderr one line that
 * says what is wrong and one that says what to do. A stopped command says that it was interrupted, and no more; main.ts
 * gives the process the status of the signal that stopped it.
 */
import { CommanderError } from "commander";
import { FormatError, WarpmapError } from "../errors.js";
import { visible } from "../io/visible.js";
import type { Host } from "./host.js";

const FAILED = 1;
export const WRONG_CALL = 2;
/** 128 + SIGINT, as shells have it. */
const INTERRUPTED = 130;

/** The command was called wrongly: nothing was read or written. */
export class CallError extends WarpmapError {
  declare readonly code: "CALL";
  constructor(message: string, fix: string) {
    super("CALL", message, fix);
  }
}

/** Prints an error and answers with the exit status. `command`: what to ask for help on. */
export function fail(error: unknown, { stderr, env, signal }: Host, command: string): number {
  if (signal.aborted) {
    stderr.write("warpmap: interrupted\n");
    return INTERRUPTED;
  }
  const { problem, hint } = describe(error, command);
  stderr.write(`warpmap: ${oneLine(problem)}\n`);
  stderr.write(`hint: ${oneLine(hint)}\n`);
  if (env.WARPMAP_DEBUG && error instanceof Error)
    stderr.write(`${String(error.stack).split("\n").map(visible).join("\n")}\n`);
  const wrongCall =
    error instanceof CallError || error instanceof FormatError || error instanceof CommanderError;
  return wrongCall ? WRONG_CALL : FAILED;
}

function describe(error: unknown, command: string): { problem: string; hint: string } {
  if (error instanceof CommanderError) return describeCommander(error, command);
  if (error instanceof WarpmapError) return { problem: error.problem, hint: error.fix };
  const problem = error instanceof Error ? error.message || error.name : String(error);
  return { problem, hint: "Run again with WARPMAP_DEBUG=1 to see where this happened, and report it." };
}

function describeCommander(error: CommanderError, command: string): { problem: string; hint: string } {
  const [line, suggestion] = error.message.replace(/^error: /, "").split("\n");
  const hint = suggestion?.replace(/^\((.*)\)$/, "$1");
  return { problem: line, hint: hint ?? `See "${command} --help".` };
}

function oneLine(text: string): string {
  return visible(text.trim().replace(/\s*[\r\n]+\s*/g, " "));
}
