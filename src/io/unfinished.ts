/**
 * Files and folders of calls that are not done, in Node: what ends the process removes them. All have names by chance
 * (`randomName`, mkdtemp), so a name that is kept here is of nothing that others made.
 */
import { fileModule } from "./builtin.js";

/**
 * Removes a path of a kind: a file alone, or a folder with what is in it. Symbolic links are removed, never followed.
 */
const REMOVAL = {
  file: { force: true, recursive: false },
  folder: { force: true, recursive: true, maxRetries: 3 },
} as const;
type Kind = keyof typeof REMOVAL;

const unfinished = new Map<string, Kind>();
let listening = false;

/** What to remove when the process ends, if nobody forgets it before. */
export function remember(path: string, kind: Kind): void {
  unfinished.set(path, kind);
  if (listening) return;
  listening = true;
  process.on("exit", () => {
    const { rmSync } = fileModule("node:fs");
    for (const [left, kind] of unfinished) {
      try {
        rmSync(left, REMOVAL[kind]);
      } catch {
        // the others are removed all the same
      }
    }
  });
}

/** It has its final name, or is not there. */
export function forget(path: string): void {
  unfinished.delete(path);
}

/** Removes it now. What cannot be removed is tried again when the process ends. @throws the system's errors */
export async function removeUnfinished(path: string): Promise<void> {
  const kind = unfinished.get(path);
  if (kind === undefined) return;
  await fileModule("node:fs/promises").rm(path, REMOVAL[kind]);
  unfinished.delete(path);
}

/**
 * A file name that nobody can guess, so that nobody can be there first: 128 random bits. Short, as names have at most
 * 255 bytes.
 */
export function randomName(): string {
  const bits = crypto.getRandomValues(new Uint8Array(16));
  return `.warpmap-${Array.from(bits, (byte) => byte.toString(16).padStart(2, "0")).join("")}.tmp`;
}
