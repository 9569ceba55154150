/** What a result is saved as, without the extension: the tables by their names, and what was done with them. */
import type { Side, Spec } from "../protocol.js";

const LONGEST = 80;

export function resultName(spec: Spec, nameOf: (side: Side) => string): string {
  const left = stem(nameOf("left"));
  switch (spec.kind) {
    case "join":
      return cut(`${left}-${spec.how}-join-${stem(nameOf("right"))}`);
    case "group":
      return cut(`${left}-by-${spec.by.join("-")}`);
    case "distinct":
      return cut([left, "distinct", ...spec.on].join("-"));
  }
}

/** Without the extensions. */
function stem(name: string): string {
  return name.replace(/(\.(csv|tsv|parquet|arrow|feather|ipc|gz))+$/i, "");
}

/** Without what file names cannot hold. */
function cut(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return name.replace(/[\u0000-\u001f<>:"/\\|?*]+/g, "_").slice(0, LONGEST);
}
