/**
 * Where a result goes: a file appears under its name whole or not at all, and whatever ends the process leaves nothing
 * else behind. What is no regular file (a pipe, a device) is written to, never replaced.
 */
import { createReadStream, createWriteStream, rmSync } from "node:fs";
import { chmod, mkdtemp, realpath, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";

/** Temporary files and folders of writes that are not done, for the end of the process. */
const unfinished = new Set<string>();
let listening = false;

function remember(path: string): void {
  unfinished.add(path);
  if (listening) return;
  listening = true;
  process.on("exit", () => {
    for (const left of unfinished) rmSync(left, { force: true, recursive: true });
  });
}

async function forget(path: string): Promise<void> {
  await rm(path, { force: true, recursive: true });
  unfinished.delete(path);
}

/** Has `write` write a file, and puts it where `path` leads. */
export async function replaceFile(
  path: string,
  write: (temporary: string) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => null);
  if (found !== null && !found.isFile()) return writeThrough(target, write, signal);
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  remember(temporary);
  try {
    await write(temporary);
    signal?.throwIfAborted();
    if (found !== null) await chmod(temporary, found.mode & 0o7777);
    await rename(temporary, target);
  } finally {
    await forget(temporary);
  }
}

/** Pipes and devices: made whole in the system's temporary folder, then copied. */
async function writeThrough(
  target: string,
  write: (temporary: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "warpmap-"));
  remember(folder);
  try {
    const temporary = join(folder, "result");
    await write(temporary);
    await pipeline(createReadStream(temporary), createWriteStream(target), { signal });
  } finally {
    await forget(folder);
  }
}
