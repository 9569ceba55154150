/** Which columns of a source are read. */
import { ValidationError } from "../errors.js";
import { nearestOf } from "../options.js";
import type { ReadOptions } from "./formats.js";

/** Positions of the columns to read, in the source's order. @throws ValidationError for a column that there is not */
export function selectedColumns(
  names: readonly string[],
  { columns }: ReadOptions,
  source: string,
): number[] {
  const asked = typeof columns === "function" ? columns(names) : columns;
  if (asked === undefined) return names.map((_, i) => i);
  const there = new Set(names);
  const missing = asked.find((name) => !there.has(name));
  if (missing !== undefined) throw noColumn(missing, names, source);
  const wanted = new Set(asked);
  return names.flatMap((name, i) => (wanted.has(name) ? i : []));
}

/** Names that a message lists. */
const LISTED = 20;

/** The error for a column that a source does not have. */
export function noColumn(name: string, names: readonly string[], source: string): ValidationError {
  const near = nearestOf(name, names);
  const more = names.length > LISTED ? ` and ${names.length - LISTED} more` : "";
  return new ValidationError(
    `${source} has no column "${name}".`,
    `${near === undefined ? "" : `Did you mean "${near}"? `}Its columns are: ${names.slice(0, LISTED).join(", ")}${more}.`,
  );
}
