/** The column names of a CSV file, from the fields of its first line. */
import { FileError } from "./errors.js";

/** Columns of a file. Each takes about 2 KB besides its values; a text of nothing but commas would fill the memory. */
const MAX_COLUMNS = 1 << 18;

/** Every field named, each name there once. @throws FileError where that cannot be */
export function columnNames(path: string, fields: readonly string[] | undefined): string[] {
  if (fields === undefined)
    throw new FileError(path, "is empty", "A CSV file starts with a line of column names.");
  if (fields.length > MAX_COLUMNS) {
    throw new FileError(
      path,
      `has ${fields.length} columns, more than ${MAX_COLUMNS}`,
      "Check that its first line names the columns, and leave out columns that you do not need.",
    );
  }
  const taken = new Set<string>();
  for (const name of fields) {
    if (name !== "" && taken.has(name)) {
      throw new FileError(path, `has two columns named "${name}"`, "Rename one of them in the header line.");
    }
    taken.add(name);
  }
  return fields.map((name, i) => name || unusedName(i + 1, taken));
}

/** column_3 for the third column, with a number after it where a column of that name is there already. */
function unusedName(position: number, taken: Set<string>): string {
  let name = `column_${position}`;
  for (let n = 2; taken.has(name); n++) name = `column_${position}_${n}`;
  taken.add(name);
  return name;
}
