/** Part (a) of lifecycle: a process that had done nothing before, one for each size. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Device, EngineError, ValidationError } from "../../src/index.js";
import { type BenchOptions, type BenchRow, engineName } from "../report.js";
import type { ColdResult, ColdTask } from "./cold-process.js";
import program from "./cold-process.ts?worker-source";

/** One cold process, with the caller's environment. Where the map does not fit: a sentence for the notes. */
export async function coldRow(
  device: Device,
  size: number,
  { library, signal }: BenchOptions,
): Promise<BenchRow | string> {
  if (library === undefined) {
    throw new ValidationError("lifecycle is not told where the library is.", "Give options.library.");
  }
  const { backend, info } = device;
  const task: ColdTask = {
    library: await library(),
    device: { backend, software: info.software, ...(backend === "cpu" && { threads: info.threads }) },
    size,
  };
  const result = await outcomeOf(task, signal);
  if ("error" in result) {
    const { code, message } = result.error;
    if (code === "LIMIT") return `${size} keys do not fit a cold process. ${message}`;
    throw new EngineError(`lifecycle: the cold process failed: ${message}`);
  }
  const { ms } = result;
  return {
    state: "cold process",
    on: engineName(device),
    size,
    "import ms": ms.import,
    "open ms": ms.open,
    "create ms": ms.create,
    "insert ms": ms.insert,
    "find ms": ms.find,
    "total ms": ms.total,
  };
}

async function outcomeOf(task: ColdTask, signal?: AbortSignal): Promise<ColdResult> {
  try {
    const args = ["--eval", program, JSON.stringify(task)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { signal });
    return JSON.parse(stdout) as ColdResult;
  } catch (error) {
    signal?.throwIfAborted();
    // the message of execFile has the whole program
    const {
      code,
      signal: killed,
      stderr = "",
    } = error as { code?: number; signal?: string; stderr?: string };
    const end = stderr.trim().split("\n").at(-1);
    throw new EngineError(
      `lifecycle: the cold process ended without an answer: ${killed ?? code ?? 0}. ${end}`,
    );
  }
}
