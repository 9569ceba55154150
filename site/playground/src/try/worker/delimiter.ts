/** What separates the fields of a text file whose first line has none of those that its format says. */
import type { Format } from "warpmap/io";

export interface Delimiter {
  readonly character: string;
  readonly called: string;
}

const OTHERS: readonly Delimiter[] = [
  { character: ";", called: "semicolons" },
  { character: "\t", called: "tabs" },
  { character: "|", called: "bars" },
  { character: ",", called: "commas" },
];
/** A first line of names is shorter. */
const LOOKED_AT_BYTES = 1 << 16;

/** @returns undefined where the fields are separated as the format says, or there is one column */
export async function delimiterOf(file: Blob, format: Format): Promise<Delimiter | undefined> {
  const [line = ""] = (await file.slice(0, LOOKED_AT_BYTES).text()).split(/\r?\n/, 1);
  const bare = line.replace(/"[^"]*"/g, '""');
  if (bare.includes(format === "tsv" ? "\t" : ",")) return undefined;
  return OTHERS.find(({ character }) => bare.includes(character));
}
