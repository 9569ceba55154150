/**
 * The folder of a call's temporary files. Its name says which process made it: what a killed process left behind is removed by
 * the next call that uses the same place. A process that ends removes its own.
 */
import { fileModule } from "./builtin.js";
import { forget, remember } from "./output.js";

export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

const PREFIX = "warpmap-spill-";
/** Where the process runs, its number, and when it began; then six characters by chance. */
const NAME = /^warpmap-spill-([0-9a-f]{8})-(\d+)-(\d+)-\w{6}$/;

/** @param place default: the system's temporary folder @throws the system's errors */
export async function makeTemporaryFolder(place: string | undefined): Promise<TemporaryFolder> {
  const parent = place ?? fileModule("node:os").tmpdir();
  await removeLeftovers(parent);
  const { mkdtemp } = fileModule("node:fs/promises");
  const { join } = fileModule("node:path");
  const own = `${PREFIX}${await machine()}-${process.pid}-${await startOf(process.pid)}-`;
  const path = await mkdtemp(join(parent, own));
  remember(path);
  return { path, remove: () => forget(path) };
}

/** Removes what processes left behind that are no more. Processes of other machines are left alone: nobody knows about them here. */
async function removeLeftovers(parent: string): Promise<void> {
  const { readdir, rm } = fileModule("node:fs/promises");
  const { join } = fileModule("node:path");
  const here = await machine();
  for (const name of await readdir(parent).catch(() => [])) {
    const [, where, pid, start] = NAME.exec(name) ?? [];
    if (where !== here || (await isRunning(Number(pid), start))) continue;
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {}); // another user's
  }
}

async function isRunning(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
  // a number is given again
  return (await startOf(pid)) === start;
}

/** When a process began, in a unit of the system's; 0 where nobody knows. */
async function startOf(pid: number): Promise<string> {
  const { readFile } = fileModule("node:fs/promises");
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // proc(5): field 22, and the name, which is the second, may hold anything up to its closing bracket
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[22 - 3] ?? "0";
}

/** A machine, or a container of one: numbers of processes mean something within it alone. */
async function machine(): Promise<string> {
  const { readlink } = fileModule("node:fs/promises");
  const processes = await readlink("/proc/self/ns/pid").catch(() => "");
  return hexOf(`${fileModule("node:os").hostname()} ${processes}`);
}

/** FNV-1a of 32 bits (Fowler, Noll, Vo). */
function hexOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
