/**
 * Where a result goes in Node: a file appears under its name whole or not at all, and whatever ends the process leaves nothing
 * else behind. What is no regular file (a pipe, a device) is written to, never replaced.
 */
import { fileModule } from "./builtin.js";
import { FileError, fileErrorFrom } from "./errors.js";

/** Temporary files and folders of writes that are not done, for the end of the process. */
const unfinished = new Set<string>();
let listening = false;

/** A file or folder to remove when the process ends. */
export function remember(path: string): void {
  unfinished.add(path);
  if (listening) return;
  listening = true;
  process.on("exit", () => {
    const { rmSync } = fileModule("node:fs");
    for (const left of unfinished) {
      try {
        rmSync(left, { force: true, recursive: true });
      } catch {
        // the others are removed all the same
      }
    }
  });
}

/** Removes it now. */
export async function forget(path: string): Promise<void> {
  await fileModule("node:fs/promises").rm(path, { force: true, recursive: true, maxRetries: 3 });
  unfinished.delete(path);
}

/** Writes blocks of bytes to where `path` leads. @throws the signal's reason, what `blocks` throw, the system's errors */
export async function replaceFile(
  path: string,
  blocks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  const { chmod, realpath, rename, stat } = fileModule("node:fs/promises");
  const { basename, dirname, join } = fileModule("node:path");
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => null);
  if (found !== null && !found.isFile()) return writeThrough(target, blocks, signal);
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  remember(temporary);
  try {
    await writeBlocks(temporary, blocks, signal);
    if (found !== null) await chmod(temporary, found.mode & 0o7777);
    await rename(temporary, target);
  } finally {
    await forget(temporary);
  }
}

async function writeBlocks(
  path: string,
  blocks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const file = await fileModule("node:fs/promises").open(path, "w");
  let writing: Promise<void> | undefined; // of one block, while the next one is made
  try {
    for await (const block of blocks) {
      signal?.throwIfAborted();
      await writing;
      writing = file.appendFile(block);
      writing.catch(() => {}); // is awaited below
    }
    await writing;
    signal?.throwIfAborted();
  } finally {
    await writing?.catch(() => {});
    await file.close();
  }
}

/** Pipes and devices: made whole in the system's temporary folder, then copied. */
async function writeThrough(
  target: string,
  blocks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { mkdtemp } = fileModule("node:fs/promises");
  const { createReadStream, createWriteStream } = fileModule("node:fs");
  const { join } = fileModule("node:path");
  const folder = await mkdtemp(join(fileModule("node:os").tmpdir(), "warpmap-"));
  remember(folder);
  try {
    const temporary = join(folder, "result");
    await writeBlocks(temporary, blocks, signal);
    await fileModule("node:stream/promises").pipeline(
      createReadStream(temporary),
      createWriteStream(target),
      { signal },
    );
  } finally {
    await forget(folder);
  }
}

/** Throws unless a file can be made at `path`: to learn that before the work and not after it. */
export async function checkWritable(path: string): Promise<void> {
  const { stat } = fileModule("node:fs/promises");
  try {
    const folder = await stat(fileModule("node:path").dirname(path));
    if (!folder.isDirectory()) throw new FileError(path, "its directory is a file", "Check the path.");
    const target = await stat(path).catch(() => null);
    if (target?.isDirectory()) throw new FileError(path, "is a directory", "Name a file.");
  } catch (error) {
    throw fileErrorFrom(path, error, "cannot be written", "Check the path.");
  }
}

/** Whether two paths lead to one file, through symbolic or hard links or not. */
export async function sameFile(a: string, b: string): Promise<boolean> {
  const { stat } = fileModule("node:fs/promises");
  const [first, second] = await Promise.all(
    [a, b].map((path) => stat(path, { bigint: true }).catch(() => null)),
  );
  return first !== null && second !== null && first.dev === second.dev && first.ino === second.ino;
}
