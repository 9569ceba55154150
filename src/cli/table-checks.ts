/** Checks of the columns, types and numbers that commands are called with. */
import { ValidationError } from "../errors.js";
import { ASKED_TYPES, type AskedType, type Format, isTextFormat } from "../io/formats.js";
import { LEAST_LIMIT, type MemoryOptions } from "../spill/memory-options.js";
import { CallError } from "./failure.js";
import type { NamedFile } from "./table-files.js";

/** "a=utf8,b=int64" by column. The last "=" counts: types have none, names may. */
export function askedTypes(text: string | undefined): Map<string, AskedType> {
  const types = new Map<string, AskedType>();
  for (const item of text?.split(",") ?? []) {
    const at = item.lastIndexOf("=");
    const type = ASKED_TYPES.find((name) => name === item.slice(at + 1));
    if (at <= 0 || type === undefined) {
      throw new CallError(
        `"${item}" in --type does not give a column a type.`,
        `Write --type COLUMN=TYPE, with commas between pairs; the types are ${ASKED_TYPES.join(", ")}.`,
      );
    }
    types.set(item.slice(0, at), type);
  }
  return types;
}

/**
 * A type is for csv columns, and utf8 for bytes in parquet files: elsewhere it would be ignored in silence.
 * @param names the columns of each file
 */
export function checkTypes(
  types: Readonly<Record<string, AskedType>>,
  files: readonly NamedFile[],
  names: readonly (readonly string[])[],
): void {
  for (const [name, type] of Object.entries(types)) {
    const isUsed = (format: Format) => isTextFormat(format) || (format === "parquet" && type === "utf8");
    const used = files.some(({ format }, i) => isUsed(format) && names[i].includes(name));
    if (used) continue;
    const elsewhere = names.findIndex((there) => there.includes(name));
    const nowhere = files.length === 1 ? "the file does not have" : "neither file has";
    throw new ValidationError(
      elsewhere < 0
        ? `--type names a column "${name}" that ${nowhere}.`
        : `--type names the column "${name}" of ${files[elsewhere].name}, which says itself what type it has.`,
      "Name columns of csv files only; utf8 is also for bytes in parquet files.",
    );
  }
}

/** "a,b" as names. */
export function columnList(option: string, text: string): string[] {
  const names = text.split(",");
  const isRight = names.every((name, i) => name !== "" && names.indexOf(name) === i);
  if (isRight) return names;
  throw new CallError(
    `${option} ${text} is not a list of different columns.`,
    `Write ${option} origin, or ${option} origin,month.`,
  );
}

/** The N of --limit N; undefined: all rows. */
export function rowLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CallError(`--limit ${text} is not a number of rows.`, "Write --limit 100.");
}

/** A whole number from 1 on. */
export function wholeNumber(option: string, text: string, most: number): number {
  const number = Number(text);
  if (/^[1-9]\d*$/.test(text) && number <= most) return number;
  throw new CallError(`${option} ${text} is no number from 1 to ${most}.`, `Write ${option} 4.`);
}

/** The N of --threads N; undefined: the default. */
export function threadCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new CallError(
    `--threads ${text} is not a number of threads.`,
    "Write --threads 4, or 1 for no others.",
  );
}

const UNITS = ["", "K", "M", "G", "T"];

/** "512M" as bytes: K, M, G and T are powers of 1,024, and a B or iB may follow. */
export function bytesOf(option: string, text: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * 1024 ** UNITS.indexOf(unit.toUpperCase()));
  if (bytes >= LEAST_LIMIT && Number.isSafeInteger(bytes)) return bytes;
  throw new CallError(
    `${option} ${text} is not an amount of memory${Number.isNaN(bytes) ? "" : " to work in"}.`,
    "Write --memory 512M, or any amount from 1M on.",
  );
}

/** What --memory and --tmp say; null: there is no limit. */
export function memoryOptions({ memory, tmp }: { memory?: string; tmp?: string }): MemoryOptions | null {
  if (memory !== undefined) return { limit: bytesOf("--memory", memory), folder: tmp };
  if (tmp === undefined) return null;
  throw new CallError(
    "--tmp says where --memory puts its files, and there is no --memory.",
    "Add --memory 512M.",
  );
}
