// Lets workers of the playground be made of modules that were written for Node: benchmarks, which import the library's sources.
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Modules of the repository that ask Node, and what stands in for them on a page. */
const STAND_INS = {
  "bench/host.ts": "src/bench/worker/page-host.ts",
  "bench/gups-team.ts": "src/bench/worker/page-team.ts",
  "bench/lifecycle/cold.ts": "src/bench/worker/page-cold.ts",
};

/** A Vite plugin: the library is the one in dist whoever imports it, and stand-ins are taken. */
export function pageModules({ root, dist }) {
  const replaced = new Map([
    [join(root, "src/index.ts"), join(dist, "index.js")],
    ...Object.entries(STAND_INS).map(([from, to]) => [join(root, from), join(here, to)]),
  ]);
  return {
    name: "playground:page-modules",
    enforce: "pre",
    resolveId(id, importer) {
      if (!id.startsWith(".") || !importer || importer.includes("node_modules")) return null;
      const path = resolve(dirname(importer.split("?", 1)[0]), id);
      const source = path.replace(/\.js$/, ".ts");
      const stand = replaced.get(source);
      // a stand-in may take from the module that it stands in for
      return stand !== undefined && importer !== stand ? stand : null;
    },
  };
}
