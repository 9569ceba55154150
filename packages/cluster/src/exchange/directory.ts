/**
 * An exchange in a folder that all workers see: of one machine, or shared over a network. A file is written under a
 * hidden temporary name beside its own, then renamed or linked, so it appears whole or not at all. Needs a file system
 * with hard links for `create`. Files are not flushed to the disk: after a power failure a run is to be started again.
 */
import { randomBytes } from "node:crypto";
import type { Dir } from "node:fs";
import { type FileHandle, link, mkdir, open, opendir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ClusterError } from "../errors.js";
import type { Exchange } from "../exchange.js";
import { checkRange, fileName, folderName, notThere, tooShort } from "./names.js";

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Names of temporaries, which no file of an exchange has. */
const TEMPORARY = /^\.warpmap-[0-9a-f]{24}\.tmp$/;
/** Bytes that one call of the system reads or writes at most: Node takes lengths of 31 bits. */
const MOST_BYTES = 2 ** 30;

/** Files in a folder. Each call costs a few calls of the file system; nothing is kept open between calls. */
export class DirectoryExchange implements Exchange {
  readonly url: string;
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
    this.url = pathToFileURL(root).href;
  }

  /** Makes the folder where it is not there. @throws ClusterError EXCHANGE when it cannot be made, or is a file */
  static async open(folder: string): Promise<DirectoryExchange> {
    const exchange = new DirectoryExchange(resolve(folder));
    await mkdir(exchange.#root, { recursive: true }).catch(exchange.#fails("make"));
    return exchange;
  }

  async write(file: string, pieces: Pieces): Promise<number> {
    const path = this.#path(file);
    const { temporary, bytes } = await this.#writeTemporary(file, pieces);
    try {
      await rename(temporary, path).catch(this.#fails("write", file));
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
    return bytes;
  }

  async read(file: string, from = 0, to?: number): Promise<Uint8Array> {
    checkRange(file, from, to);
    const handle = await open(this.#path(file)).catch(this.#fails("read", file));
    try {
      const found = await handle.stat().catch(this.#fails("read", file));
      if (!found.isFile()) throw notThere(this.#where, file);
      const end = to ?? found.size;
      if (end > found.size || from > end) throw tooShort(this.#where, file, found.size, Math.max(from, end));
      const bytes = new Uint8Array(end - from);
      const got = await readAt(handle, bytes, from).catch(this.#fails("read", file));
      if (got < bytes.length) throw tooShort(this.#where, file, from + got, end);
      return bytes;
    } finally {
      await handle.close();
    }
  }

  async create(file: string, bytes: Uint8Array): Promise<boolean> {
    const path = this.#path(file);
    const { temporary } = await this.#writeTemporary(file, [bytes]);
    try {
      await link(temporary, path);
      return true;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") return this.#fails("create", file)(error);
      // over NFS an answer may get lost, and the request is sent again: then the name is taken by this very file
      return (await stat(temporary).catch(this.#fails("create", file))).nlink > 1;
    } finally {
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    const prefix = folderName(folder) === "" ? "" : `${folder}/`;
    let entries: Dir;
    try {
      entries = await opendir(join(this.#root, folder));
    } catch (error) {
      if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return;
      return this.#fails("list", folder)(error);
    }
    for await (const entry of entries) {
      if (entry.isDirectory()) yield* this.list(`${prefix}${entry.name}`);
      else if (entry.isFile() && !TEMPORARY.test(entry.name)) yield `${prefix}${entry.name}`;
    }
  }

  async remove(folder: string): Promise<void> {
    const path = join(this.#root, folderName(folder));
    const fails = this.#fails("remove", folder);
    // the exchange's own folder stays: it is the caller's
    const paths = folder === "" ? await entriesOf(path).catch(fails) : [path];
    for (const each of paths) {
      try {
        await rm(each, { recursive: true, force: true, maxRetries: 3 });
      } catch (error) {
        // a name below a file
        if (codeOf(error) !== "ENOTDIR") fails(error);
      }
    }
  }

  async close(): Promise<void> {}

  get #where(): string {
    return `the folder ${this.#root}`;
  }

  #path(file: string): string {
    fileName(file);
    if (TEMPORARY.test(file.slice(file.lastIndexOf("/") + 1))) {
      throw new ClusterError("EXCHANGE_NAME", `"${file}" is a name of temporary files.`, "Use another name.");
    }
    return join(this.#root, file);
  }

  /** Writes a temporary beside the file; when that fails, nothing is left. @throws also what `pieces` throw */
  async #writeTemporary(file: string, pieces: Pieces): Promise<{ temporary: string; bytes: number }> {
    const temporary = join(dirname(this.#path(file)), `.warpmap-${randomBytes(12).toString("hex")}.tmp`);
    const handle = await openNew(temporary).catch(this.#fails("write", file));
    let bytes = 0;
    try {
      try {
        for await (const piece of pieces) {
          await writeAll(handle, piece).catch(this.#fails("write", file));
          bytes += piece.length;
        }
      } finally {
        // here network file systems tell of a full disk
        await handle.close().catch(this.#fails("write", file));
      }
      return { temporary, bytes };
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
  }

  /** For `catch`: throws the system's error in words. */
  #fails(doing: string, file = ""): (error: unknown) => never {
    return (error) => {
      const code = codeOf(error);
      if (doing === "read" && (code === "ENOENT" || code === "ENOTDIR"))
        throw notThere(this.#where, file, error);
      // FAT and the like: no other right is needed to link a file of one's own
      const known = doing === "create" && code === "EPERM" ? NO_LINKS : SYSTEM_ERRORS[code];
      const { problem, fix } = known ?? {
        problem: `the system says ${code || (error as Error).message}`,
        fix: "Check the folder and its file system.",
      };
      const what = file === "" ? this.#where : `"${file}" in ${this.#where}`;
      throw new ClusterError("EXCHANGE", `Cannot ${doing} ${what}: ${problem}.`, fix, { cause: error });
    };
  }
}

const PERMISSIONS = {
  problem: "permission denied",
  fix: "Give the user of this process the right to read and write there, or use another folder.",
};
const NO_LINKS = {
  problem: "its file system has no hard links",
  fix: "Use a folder on a file system with hard links, or an exchange on S3.",
};
const NOT_A_FOLDER = { problem: "a part of the path is a file", fix: "Use another folder or another name." };

const SYSTEM_ERRORS: Record<string, { problem: string; fix: string }> = {
  ENOSPC: { problem: "the disk is full", fix: "Free space on that disk, or use a folder on a larger one." },
  EDQUOT: {
    problem: "the disk quota of this user is used up",
    fix: "Remove files, raise the quota, or use another folder.",
  },
  EACCES: PERMISSIONS,
  EPERM: PERMISSIONS,
  EROFS: { problem: "the file system is read-only", fix: "Use a folder that can be written." },
  ENOENT: {
    problem: "a folder on the way to it was removed",
    fix: "Let nothing remove the folder during a run; check that its disk is mounted.",
  },
  EEXIST: NOT_A_FOLDER,
  ENOTDIR: NOT_A_FOLDER,
  EISDIR: { problem: "there is a folder of that name", fix: "Use another name." },
  ENOTEMPTY: { problem: "files were written there meanwhile", fix: "Stop what writes there, and try again." },
  ENAMETOOLONG: { problem: "the name is too long", fix: "Use names of at most 255 bytes a part." },
  ELOOP: {
    problem: "symbolic links lead back to themselves",
    fix: "Correct the links, or use another folder.",
  },
  EMFILE: { problem: "this process has too many open files", fix: "Raise the limit with `ulimit -n`." },
  ENFILE: { problem: "the system has too many open files", fix: "Close other programs, or raise the limit." },
  EIO: { problem: "the disk failed to read or write", fix: "Check the disk, or use another folder." },
  ESTALE: { problem: "the network file system was mounted anew", fix: "Start the worker again." },
  ENOTSUP: NO_LINKS,
  EOPNOTSUPP: NO_LINKS,
  ENOSYS: NO_LINKS,
};

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException)?.code ?? "";
}

/** Opens a file that is not there, and makes the folders above it. */
async function openNew(path: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await open(path, "wx");
    } catch (error) {
      // again where another process removes empty folders
      if (codeOf(error) !== "ENOENT" || attempt === 3) throw error;
      await mkdir(dirname(path), { recursive: true });
    }
  }
}

async function writeAll(handle: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) {
    const { bytesWritten } = await handle.write(piece, at, Math.min(piece.length - at, MOST_BYTES));
    at += bytesWritten;
  }
}

/** Fills `bytes` from a place of a file on. Answers with how many there were. */
async function readAt(handle: FileHandle, bytes: Uint8Array, from: number): Promise<number> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, at, Math.min(bytes.length - at, MOST_BYTES), from + at);
    if (bytesRead === 0) return at;
    at += bytesRead;
  }
  return bytes.length;
}

async function entriesOf(folder: string): Promise<string[]> {
  return (await readdir(folder)).map((name) => join(folder, name));
}
