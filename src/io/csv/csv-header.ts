/** The column names of a CSV file, from the fields of its first line. */
import { FileError } from "../errors.js";

/** Columns of a file. Each takes about 2 KB besides its values; a text of nothing but commas would fill the memory. */
export const MAX_COLUMNS = 1 << 18;

/** @throws FileError for more columns than a table can have */
export function checkColumnCount(path: string, count: number): void {
  if (count <= MAX_COLUMNS) return;
  throw new FileError(
    path,
    `has ${count} columns, more than ${MAX_COLUMNS}`,
    "Check that its first line names the columns, and leave out columns that you do not need.",
  );
}

/**
 * Every field named: those without a name as column_3 after their position, with a number behind it where that is
 * taken.
 */
export function columnNames(fields: readonly string[]): string[] {
  const taken = new Set(fields);
  return fields.map((name, i) => name || unusedName(i + 1, taken));
}

function unusedName(position: number, taken: Set<string>): string {
  let name = `column_${position}`;
  for (let n = 1; taken.has(name); n++) name = `column_${position}_${n}`;
  taken.add(name);
  return name;
}

/**
 * What to tell of a file whose one column seems to hold several, which another character separates; undefined for
 * others.
 */
export function oneColumnNote(names: readonly string[]): string | undefined {
  const [other] = names.length === 1 ? (/[;\t|]/.exec(names[0]) ?? []) : [];
  if (other === undefined) return undefined;
  return `its one column is called ${JSON.stringify(names[0])}; if ${JSON.stringify(other)} separates columns, ask for it as the delimiter.`;
}
