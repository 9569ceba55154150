/**
 * Where a result goes in Node: a file appears under its name whole or not at all, and whatever ends the process leaves
 * nothing else behind. What is no regular file (a pipe, a device) is written to, never replaced. The temporary file
 * beside a target is this call's alone: its name is random, it is opened only where nothing has the name, and it can be
 * read by those alone who may read what it replaces.
 */
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { fileModule } from "./builtin.js";
import { FileError, fileErrorFrom } from "./errors.js";
import { makeTemporaryFolder } from "./temporary-folder.js";
import { forget, randomName, remember, removeUnfinished } from "./unfinished.js";

type Blocks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Writes blocks of bytes to where `path` leads. @throws the signal's reason, what `blocks` throw, the system's errors
 */
export async function replaceFile(path: string, blocks: Blocks, signal?: AbortSignal): Promise<void> {
  const { target, found } = await targetOf(path);
  if (found !== null && !found.isFile()) return writeThrough(target, blocks, signal);
  const { rename } = fileModule("node:fs/promises");
  const { dirname, join } = fileModule("node:path");
  const temporary = join(dirname(target), randomName());
  try {
    const file = await createFile(temporary, found);
    await writeBlocks(file, blocks, signal);
    await rename(temporary, target);
    forget(temporary);
  } finally {
    await removeUnfinished(temporary);
  }
}

/** Where the bytes of a path go, and what is there now. */
interface Target {
  readonly target: string;
  /** Null: nothing. */
  readonly found: Stats | null;
}

/** Links that Linux follows on the way to one file. */
const MOST_LINKS = 40;

/**
 * Follows symbolic links, also to where nothing is yet. What is no regular file keeps its path: that of a pipe in /proc
 * leads to no place in a folder.
 */
async function targetOf(path: string): Promise<Target> {
  const { readlink, realpath, stat } = fileModule("node:fs/promises");
  const { dirname, isAbsolute, sep } = fileModule("node:path");
  const found = await stat(path).catch(nullIfMissing);
  if (found !== null) return { target: found.isFile() ? await realpath(path) : path, found };
  let target = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const link = await readlink(target).catch(() => null); // no link
    if (link === null) break;
    // not join(), which would take `a/..` for nothing where `a` is a link
    target = isAbsolute(link) ? link : `${await realpath(dirname(target))}${sep}${link}`;
  }
  return { target, found: null };
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** Makes a file for what is to replace another, or nothing. @throws where the name is taken, also by a link */
async function createFile(path: string, replaced: Stats | null): Promise<FileHandle> {
  remember(path, "file");
  let file: FileHandle;
  try {
    file = await fileModule("node:fs/promises").open(path, "wx", replaced === null ? 0o666 : 0o600);
  } catch (error) {
    forget(path); // what has the name is not ours
    throw error;
  }
  try {
    if (replaced !== null) await takePermissions(file, replaced);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Gives an empty file the owner and the permissions of another, as far as the process may; never to more people. */
async function takePermissions(file: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const made = await file.stat();
  if (made.uid !== uid || made.gid !== gid) {
    // only the superuser may give a file to another owner; to another of one's groups one may
    await file.chown(uid, gid).catch(() => file.chown(made.uid, gid).catch(() => {}));
  }
  const isGroupKept = (await file.stat()).gid === gid;
  // another group gets what everybody has
  const allowed = isGroupKept ? 0o777 : 0o707 | ((mode & 0o007) << 3);
  await file.chmod(mode & allowed).catch(() => {}); // a file system without permissions
}

/** Writes blocks, and closes the file. */
async function writeBlocks(file: FileHandle, blocks: Blocks, signal: AbortSignal | undefined): Promise<void> {
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

/** Pipes and devices: made whole in a temporary folder, then copied. */
async function writeThrough(target: string, blocks: Blocks, signal: AbortSignal | undefined): Promise<void> {
  const { constants, createReadStream, createWriteStream } = fileModule("node:fs");
  const folder = await makeTemporaryFolder(undefined);
  try {
    const temporary = fileModule("node:path").join(folder.path, "result");
    await writeBlocks(await fileModule("node:fs/promises").open(temporary, "wx"), blocks, signal);
    await fileModule("node:stream/promises").pipeline(
      createReadStream(temporary),
      // neither made nor emptied: what was found is written to
      createWriteStream(target, { flags: constants.O_WRONLY as unknown as string }),
      { signal },
    );
  } finally {
    await folder.remove();
  }
}

/** Throws unless a file can be made at `path`: to learn that before the work and not after it. */
export async function checkWritable(path: string): Promise<void> {
  const { access, constants, stat } = fileModule("node:fs/promises");
  try {
    const { target, found } = await targetOf(path);
    if (found?.isDirectory()) throw new FileError(path, "is a directory", "Name a file.");
    if (found !== null && !found.isFile()) return await access(target, constants.W_OK);
    const folder = fileModule("node:path").dirname(target);
    const place = await stat(folder);
    if (!place.isDirectory()) throw new FileError(path, "its directory is a file", "Check the path.");
    await access(folder, constants.W_OK);
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
