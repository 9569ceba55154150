/** Column names that can be told apart: all formats let two columns have one name. */

/**
 * Names as they are; where one was there before, with the first free number behind it, as DuckDB does: x, x_1, x_2.
 * @param note told which name was given to the first such column
 */
export function uniqueNames(names: readonly string[], note?: (text: string) => void): string[] {
  const taken = new Set(names);
  const used = new Set<string>();
  const next = new Map<string, number>();
  return names.map((name) => {
    let unique = name;
    if (used.has(name)) {
      let n = next.get(name) ?? 1;
      while (taken.has(`${name}_${n}`)) n++;
      unique = `${name}_${n}`;
      if (next.size === 0) note?.(`several columns are called "${name}"; the second is read as "${unique}".`);
      next.set(name, n + 1);
      taken.add(unique);
    }
    used.add(unique);
    return unique;
  });
}
