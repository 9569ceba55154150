// Which declaration files a consumer of the package can reach: those that its entries import, and what these import.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** The entries that users import: their paths in dist, without the extension. */
export const typedEntries = Object.values(exports).flatMap(({ types }) =>
  types ? [types.replace(/^\.\/dist\/|\.d\.ts$/g, "")] : [],
);

/**
 * @param folder where the declarations are
 * @param entries their paths in it, without the extension
 * @returns the paths of the files, entries included
 */
export function reachableDeclarations(folder, entries = typedEntries) {
  const reached = new Set();
  const reach = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    const { importedFiles, referencedFiles } = ts.preProcessFile(readFileSync(path, "utf8"));
    for (const { fileName } of importedFiles)
      if (fileName.startsWith(".")) reach(join(dirname(path), fileName.replace(/\.js$/, ".d.ts")));
    for (const { fileName } of referencedFiles) reach(join(dirname(path), fileName));
  };
  for (const entry of entries) reach(join(folder, `${entry}.d.ts`));
  return reached;
}
