/**
 * The folder of a call's temporary files. Its name says which process made it: what a killed process left behind is
 * removed by the next call that uses the same place. A process that ends removes its own.
 */
import { ValidationError } from "../errors.js";
import { builtin, fileModule } from "./builtin.js";
import { remember, removeUnfinished } from "./unfinished.js";

export interface TemporaryFolder {
  readonly path: string;
  /** What cannot be removed is tried again when the process ends. */
  remove(): Promise<void>;
}

const PREFIX = "warpmap-spill-";
/** Where the process runs, its number, and when it began; then six characters by chance. */
const NAME = /^warpmap-spill-([0-9a-f]{8})-(\d+)-(\d+)-\w{6}$/;

/**
 * Where folders are made, as a path from the root: the process may change its directory.
 * @throws ValidationError where there are no files
 */
export function temporaryPlace(place: string | undefined): string {
  const os = builtin("node:os");
  if (os) return fileModule("node:path").resolve(place ?? os.tmpdir());
  throw new ValidationError(
    "This needs temporary files, which only Node has.",
    "Raise memory.limit until all fits, or give bytes or a Blob in place of a stream.",
  );
}

/**
 * @param place default: the system's temporary folder @throws ValidationError where there are no files; the system's
 * errors
 */
export async function makeTemporaryFolder(place: string | undefined): Promise<TemporaryFolder> {
  const parent = temporaryPlace(place);
  await removeLeftovers(parent);
  const { mkdtemp } = fileModule("node:fs/promises");
  const { join } = fileModule("node:path");
  const own = `${PREFIX}${await machine()}-${process.pid}-${await startOf(process.pid)}-`;
  const path = await mkdtemp(join(parent, own));
  remember(path, "folder");
  return { path, remove: () => removeUnfinished(path).catch(() => {}) };
}

/**
 * Removes what processes of this user left behind that are no more. Processes of other machines are left alone: nothing
 * here knows about them.
 */
async function removeLeftovers(parent: string): Promise<void> {
  const { readdir, rm } = fileModule("node:fs/promises");
  const { join } = fileModule("node:path");
  const here = await machine();
  for (const name of await readdir(parent).catch(() => [])) {
    const [, where, pid, start] = NAME.exec(name) ?? [];
    const path = join(parent, name);
    if (where !== here || (await isRunning(Number(pid), start)) || !(await isOwn(path))) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * Whether nobody else can change what is in a folder. In one of another user's, or in one that others may write to, a
 * link could take the place of a folder while it is emptied, and what the link leads to would be emptied in its stead.
 */
async function isOwn(path: string): Promise<boolean> {
  const found = await fileModule("node:fs/promises")
    .lstat(path)
    .catch(() => null); // another call removed it
  const uid = process.getuid?.(); // Windows has none
  return (
    found?.isDirectory() === true && (uid === undefined || (found.uid === uid && (found.mode & 0o022) === 0))
  );
}

async function isRunning(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
  // a number is given again; that it was is certain only where both times are known
  const found = await startOf(pid);
  return found === start || found === UNKNOWN || start === UNKNOWN;
}

const UNKNOWN = "0";

/** When a process began, in a unit of the system's. */
async function startOf(pid: number): Promise<string> {
  const { readFile } = fileModule("node:fs/promises");
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // proc(5): field 22, and the name, which is the second, may hold anything up to its closing bracket
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[22 - 3] ?? UNKNOWN;
}

/** A machine, or a container of one: numbers of processes mean something within it alone. */
async function machine(): Promise<string> {
  const { readFile, readlink } = fileModule("node:fs/promises");
  // every machine's first space of processes has one number, and names of machines are given twice
  const processes = await readlink("/proc/self/ns/pid").catch(() => "");
  const id = await readFile("/etc/machine-id", "utf8").catch(() => "");
  return hexOf(`${fileModule("node:os").hostname()} ${id.trim()} ${processes}`);
}

/** FNV-1a of 32 bits (Fowler, Noll, Vo). */
function hexOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
