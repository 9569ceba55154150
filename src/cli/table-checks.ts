/** Checks of what commands that turn tables into a table are called with: their files, columns and types. */
import type { Table } from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import { ASKED_TYPES, type AskedType } from "../io/csv-asked.js";
import { formatOf } from "../io/formats.js";
import { checkWritable, sameFile } from "../io/output.js";
import { nearestOf } from "../options.js";
import { CallError } from "./failure.js";
import { listed } from "./text.js";

/**
 * Checks formats, and that the result can be written.
 * @param purpose what the files are for, in words: "to join"
 */
export async function checkFiles(
  inputs: readonly string[],
  out: string | undefined,
  purpose: string,
): Promise<void> {
  for (const path of [...inputs, out ?? inputs[0]]) formatOf(path);
  if (out === undefined) return;
  await refuseInput(out, inputs, purpose);
  await checkWritable(out);
}

/** Writing over an input would destroy it. Paths are compared by the files they lead to. */
async function refuseInput(out: string, inputs: readonly string[], purpose: string): Promise<void> {
  for (const input of inputs) {
    if (!(await sameFile(input, out))) continue;
    const which = inputs.length === 1 ? "the file" : "one of the files";
    throw new CallError(`--out ${out} is ${which} ${purpose}.`, "Name another file.");
  }
}

/** @throws ValidationError that names the file, the nearest column and the others */
export function checkColumn(table: Table, name: string, path: string): void {
  const names = table.names.map(String);
  if (names.includes(name)) return;
  const near = nearestOf(name, names);
  throw new ValidationError(
    `${path} has no column "${name}".`,
    `${near === undefined ? "" : `Did you mean "${near}"? `}Its columns are: ${listed(names)}.`,
  );
}

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

/** A type is for csv columns: elsewhere it would be ignored in silence. */
export function checkTypes(
  types: ReadonlyMap<string, AskedType>,
  paths: readonly string[],
  tables: readonly Table[],
): void {
  for (const name of types.keys()) {
    const used = paths.some((path, i) => formatOf(path) === "csv" && tables[i].names.includes(name));
    if (used) continue;
    const elsewhere = tables.findIndex((table) => table.names.includes(name));
    const nowhere = paths.length === 1 ? "the file does not have" : "neither file has";
    throw new ValidationError(
      elsewhere < 0
        ? `--type names a column "${name}" that ${nowhere}.`
        : `--type names the column "${name}" of ${paths[elsewhere]}, which says itself what type it has.`,
      "Name columns of csv files only.",
    );
  }
}
