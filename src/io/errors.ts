/**
 * What can be wrong with a file: the two errors that reading and writing throw, and their wording for the system's own.
 */
import { WarpmapError } from "../errors.js";
import { visible } from "./visible.js";

/**
 * A file cannot be read or written, or does not hold what its name says. Its message is one line, whatever names the
 * file has.
 */
export class FileError extends WarpmapError {
  declare readonly code: "FILE";
  readonly path: string;

  constructor(path: string, problem: string, fix: string, options?: ErrorOptions) {
    super("FILE", visible(`${path}: ${problem}.`), fix, options);
    this.path = path;
  }
}

/** The types of a file were guessed by its first rows, and others do not fit them. */
export class GuessError extends FileError {}

const SYSTEM_ERRORS: Record<string, { problem: string; fix: string }> = {
  ENOENT: {
    problem: "no such file or directory",
    fix: "Check the path; it is taken from the current directory.",
  },
  EISDIR: { problem: "is a directory", fix: "Name a file." },
  ENOTDIR: { problem: "a part of the path is not a directory", fix: "Check the path." },
  EACCES: { problem: "permission denied", fix: "Check the permissions of the file and its directory." },
  EPERM: { problem: "operation not permitted", fix: "Check the permissions of the file and its directory." },
  EROFS: { problem: "the file system is read-only", fix: "Name a place that can be written." },
  ENAMETOOLONG: { problem: "the name is too long", fix: "Name it in at most 255 bytes." },
  ELOOP: { problem: "symbolic links lead back to themselves", fix: "Check the path." },
  ENOSPC: { problem: "no space is left on the device", fix: "Make room, or name a place with more of it." },
};

/**
 * The error to throw when `error` came up while `path` was read or written: errors of warpmap as they are, the
 * system's in words, anything else (a parser's) as `otherwise`.
 */
export function fileErrorFrom(path: string, error: unknown, otherwise: string, fix: string): unknown {
  if (error instanceof WarpmapError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : SYSTEM_ERRORS[code];
  if (known) return new FileError(path, known.problem, known.fix, { cause: error });
  // what a library says where it did not look is of no use to the reader of a message
  const unforeseen = error instanceof TypeError || error instanceof RangeError;
  const reason = unforeseen ? "its parts do not fit together" : message.replace(/\s+/g, " ");
  return new FileError(path, `${otherwise} (${reason})`, fix, { cause: error });
}
