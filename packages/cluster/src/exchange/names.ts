/**
 * What all exchanges refuse alike: names that lead out of a folder or that not every system can store, and ranges that
 * are none. A name is relative, with "/" between its parts.
 */
import { ClusterError } from "../errors.js";

/** The name of a file, when it is one. @throws ClusterError EXCHANGE_NAME */
export function fileName(name: string): string {
  const reason = name === "" ? "it is empty" : whatIsWrong(name);
  if (reason === null) return name;
  throw new ClusterError(
    "EXCHANGE_NAME",
    `${JSON.stringify(name)} is not a name in an exchange: ${reason}.`,
    'Use relative names with "/" between their parts, like "run-1/part-0.arrow".',
  );
}

/** The name of a folder, when it is one, or "" for the whole exchange. @throws ClusterError EXCHANGE_NAME */
export function folderName(name: string): string {
  return name === "" ? name : fileName(name);
}

/** Checks a range of bytes. @throws ClusterError EXCHANGE_FILE */
export function checkRange(file: string, from: number, to: number | undefined): void {
  const isPlace = (place: number) => Number.isSafeInteger(place) && place >= 0;
  if (isPlace(from) && (to === undefined || (isPlace(to) && to >= from))) return;
  throw new ClusterError(
    "EXCHANGE_FILE",
    `Bytes ${from} to ${to ?? "the end"} of "${file}" are no range.`,
    "Ask for whole numbers from 0, the end not before the start.",
  );
}

/** A file ends before the bytes that were asked for. */
export function tooShort(where: string, file: string, has: number, needs: number): ClusterError {
  return new ClusterError(
    "EXCHANGE_FILE",
    `"${file}" in ${where} has ${has} bytes, and bytes up to ${needs} were asked for.`,
    "Run the job again that writes it; nothing may change the files of an exchange.",
  );
}

/** There is no file of that name. */
export function notThere(where: string, file: string, cause?: unknown): ClusterError {
  return new ClusterError(
    "EXCHANGE_FILE",
    `There is no file "${file}" in ${where}.`,
    "Check that all workers use the same exchange, and that nothing removes files during a run.",
    cause === undefined ? undefined : { cause },
  );
}

/** Control characters and halves of a pair: no XML, and so no list of S3, can hold them. */
const NOT_TEXT = /[\p{Cc}\p{Cs}]/u;

function whatIsWrong(name: string): string | null {
  if (NOT_TEXT.test(name)) return "it has a control character, or is no Unicode text";
  // between parts on Windows
  if (name.includes("\\")) return "it has a backslash";
  if (name.startsWith("/") || /^[a-z]:/i.test(name)) return "it is absolute";
  const parts = name.split("/");
  if (parts.includes("")) return "one of its parts is empty";
  return parts.some((part) => part === "." || part === "..") ? 'one of its parts is "." or ".."' : null;
}
