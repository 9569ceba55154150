// What dist/ was built from: a hash of all sources, and of the files that came out. So a build that would make the same again can be left
// out, and one whose dist/ was touched, or half written, cannot. Kept beside the packages, not in dist/, which is published.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const stampOf = (root) => join(root, "node_modules/.cache/warpmap/build.txt");
/** All that a build reads: the benchmarks are part of the command line, and the lock file says which tools build. */
const SOURCES = [
  "src",
  "bench",
  "scripts",
  "packages/cluster/src",
  "packages/cluster/scripts",
  "packages/cluster/package.json",
  "packages/cluster/tsconfig.json",
  "packages/cuda/src",
  "packages/cuda/scripts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
];

/** True where dist/ is what a build of the sources as they are now made. */
export function isBuilt(root) {
  try {
    return readFileSync(stampOf(root), "utf8") === stamp(root);
  } catch {
    return false; // never built, or no dist/
  }
}

/** Notes that dist/ was built from the sources as they are now. */
export function stampBuild(root) {
  mkdirSync(dirname(stampOf(root)), { recursive: true });
  writeFileSync(stampOf(root), stamp(root));
}

function stamp(root) {
  return `${hashOf(root, SOURCES)} ${hashOf(root, ["dist", "packages/cluster/dist", "packages/cuda/dist"])}\n`;
}

/** A hash of files and folders: of their names and contents. */
function hashOf(root, paths) {
  const hash = createHash("sha256");
  for (const file of paths.flatMap((path) => filesIn(root, path))) {
    const content = readFileSync(join(root, file));
    hash.update(`${file}\n${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

function filesIn(root, path) {
  if (/\.json$/.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .sort();
}
