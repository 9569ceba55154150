/** Column names that can be told apart: Parquet and Arrow let two columns have one name. */

/** Names as they are; where one was there before, with the first free number behind it: x, x_2, x_3. */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set(names);
  const used = new Set<string>();
  const next = new Map<string, number>();
  return names.map((name) => {
    let unique = name;
    if (used.has(name)) {
      let n = next.get(name) ?? 2;
      while (taken.has(`${name}_${n}`)) n++;
      unique = `${name}_${n}`;
      next.set(name, n + 1);
      taken.add(unique);
    }
    used.add(unique);
    return unique;
  });
}
