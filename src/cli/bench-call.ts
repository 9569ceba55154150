/**
 * What `warpmap bench` and bench/run.mjs are asked for: numbers as people write them, and how a benchmark refuses a
 * call.
 */
import { ValidationError } from "../errors.js";
import { CallError } from "./failure.js";

/** "1048576" or "2^20" as a number. @throws CallError */
export function parseSize(text: string): number {
  const match = /^(\d+)(?:\^(\d+))?$/.exec(text);
  const size = match === null ? Number.NaN : Number(match[1]) ** Number(match[2] ?? 1);
  if (Number.isSafeInteger(size) && size >= 1) return size;
  throw new CallError(`--size "${text}" is not a number of entries.`, "Write it as 1048576 or as 2^20.");
}

/** The value of an option that counts something. @throws CallError */
export function parseCount(option: string, text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new CallError(`${option} "${text}" is not a number.`, "Give a whole number of at least 1.");
}

/** What a benchmark failed with, as the command's failure: it refuses nothing but what it was asked for. */
export function asCallError(error: unknown): unknown {
  return error instanceof ValidationError ? new CallError(error.problem, error.fix) : error;
}
