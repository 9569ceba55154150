// Which files dist/ is made of: one for each thing that a page uses or does not use, not one for each module that something else shares.
// A bundler makes at least one file of each, and a browser one request.
//
// A part is named by modules that are loaded for it, and holds all that they import. What several parts import is in the first of
// the list, so that files import only from those before them. What no part reaches (the command line) rolldown divides by itself.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** What some parts of one list import, and some of another: `between`, in a file of its own, so that neither loads the other. */
const between = (some, others) => ({ some, others });

/** By name: modules of src/ without their ending, `folder/*` for all of it that is imported later and no other part names. */
const PARTS = {
  containers: ["containers/static-map", "containers/static-set", "device", "engine/process-seed"],
  "device-options": ["device-options", "engine/load-engine", "engine/webgpu/device/check-options"],
  "host-pool": ["host/pool", "host/arrived"],
  hash: [between(["cpu-core"], ["relational", "sketches", "webgpu-later", "csv-read"]), "engine/tags"],
  "webgpu-adapter": ["engine/webgpu/device/adapter"],
  "webgpu-core": ["engine/webgpu/webgpu-engine"],
  "cpu-core": ["engine/cpu/cpu-engine"],
  threads: ["host/workers", "engine/cpu/table/parallel"],
  "small-ones": ["containers/sealed-bytes", "engine/row-hash", "engine/sketch-format", "sketches/estimate"],
  rows: [between(["relational"], ["cpu-rows", "webgpu-rows"]), "engine/dense-keys", "engine/plan-log"],
  lists: [
    between(["containers-later", "webgpu-lists", "webgpu-strings"], ["cpu-lists", "cpu-strings"]),
    "engine/hash-bytes",
    "engine/own-hash",
  ],
  dynamic: ["containers/dynamic-map", "containers/dynamic-set"],
  multi: ["containers/static-multimap", "containers/static-multiset"],
  "containers-later": ["containers/*"],
  utf8: ["containers/utf8/open-utf8-table"],
  "webgpu-shared": [
    between(
      ["webgpu-rows", "wgsl"],
      ["webgpu-later", "webgpu-lists", "webgpu-partitioned", "webgpu-strings"],
    ),
    "engine/webgpu/device/text-folders",
  ],
  "webgpu-later": ["engine/webgpu/*", "engine/gpu/*"],
  "webgpu-partitioned": ["engine/webgpu/partitioned/partitioned"],
  "webgpu-rows": [
    "engine/gpu/gpu-rows",
    "engine/gpu/columns/*",
    "engine/gpu/reduce/*",
    "engine/webgpu/wgsl/columns",
    "engine/webgpu/wgsl/groups",
    "engine/webgpu/wgsl/join",
    "engine/webgpu/wgsl/reduce",
  ],
  "several-gpus": ["engine/gpu/join/join-by-owners"],
  "webgpu-lists": ["engine/gpu/lists/*", "engine/webgpu/wgsl/lists"],
  "webgpu-sketches": ["engine/gpu/sketches/gpu-sketches", "engine/webgpu/wgsl/sketches"],
  "webgpu-strings": ["engine/gpu/strings/gpu-dictionary", "engine/webgpu/wgsl/strings"],
  "cpu-later": ["engine/cpu/*"],
  "cpu-rows": ["engine/cpu/rows/cpu-rows"],
  "cpu-lists": ["engine/cpu/lists/list-operations"],
  "cpu-sketches": ["engine/cpu/sketches/cpu-sketches"],
  "cpu-strings": ["engine/cpu/strings/cpu-dictionary"],
  sketches: ["sketches/index"],
  wgsl: ["wgsl/index"],
  "table-input": ["arrow/table-input"],
  "io-source": [between(["io"], ["csv-read", "io-files"])],
  io: ["io/index"],
  columns: [
    between(["relational"], ["csv-read", "parquet-read", "arrow", "io-batches"]),
    "io/compacted",
    "relational/device/device-table",
  ],
  relational: ["relational/index"],
  "device-tables": ["relational/*"],
  "warm-up": ["relational/warm-up"],
  "io-blocks": [
    between(["csv-read", "csv-write"], ["parquet-read", "parquet-write", "arrow"]),
    between(["csv-read", "parquet-read"], ["csv-write", "parquet-write", "arrow"]),
    "arrow/first-rows",
  ],
  "csv-read": ["io/csv/csv-read"],
  "csv-write": ["io/csv/csv-write"],
  "parquet-write": ["io/parquet/parquet-write"],
  "parquet-read": ["io/parquet/parquet-read", "io/parquet/parquet-batches"],
  lz4: ["io/lz4"],
  zstd: ["io/zstd"],
  arrow: ["io/arrow/*"],
  "io-files": ["io/file-source", "io/output", "io/spooled"],
  "io-batches": ["io/*"],
  "group-parts": ["relational/group/group-parts"],
  spill: ["relational/group/group-large", "relational/join/join-large"],
};
/** Files of their own: for pages without a GPU, and for Node. */
const ALONE = ["engine/webgpu/device/unavailable", "engine/webgpu/device/dawn"];

/** @returns rolldown's option `codeSplitting`, for entries of src/ by name */
export function chunksOf(root, entries) {
  let parts;
  const name = (id, context) => {
    parts ??= partsOf(join(root, "src"), entries, context);
    return parts.get(id) ?? null;
  };
  return { includeDependenciesRecursively: false, groups: [{ name, debugName: "parts" }] };
}

/** @returns the part of each module that is in one, by id */
function partsOf(src, entries, context) {
  const idOf = (name) => join(src, `${name}.ts`);
  const modules = modulesOf(entries.map(idOf), (id) => context.getModuleInfo(id));
  const later = new Set(
    [...modules.values()].flatMap(({ dynamicallyImportedIds }) => dynamicallyImportedIds),
  );
  const names = [...Object.values(PARTS).flat(), ...ALONE].filter((root) => typeof root === "string");
  const named = new Set(names.map(idOf));
  const folders = names.filter((name) => name.endsWith("/*")).sort((a, b) => b.length - a.length);
  // texts of workers that are loaded when a worker starts are files of their own
  const isText = (id) => id.includes("?") && later.has(id);
  const isOf = (folder, id) => id.startsWith(join(src, folder.slice(0, -1)));

  const rootsOf = (root) => {
    if (typeof root !== "string") return [];
    if (!root.endsWith("/*")) return [idOf(root)];
    const inFolder = [...later].filter((id) => folders.find((folder) => isOf(folder, id)) === root);
    return inFolder.filter((id) => !isText(id) && !named.has(id));
  };
  const reached = new Map();
  const reachedBy = (part) => {
    if (!reached.has(part)) reached.set(part, reachedFrom(PARTS[part].flatMap(rootsOf)));
    return reached.get(part);
  };
  const reachedFrom = (ids, found = new Set()) => {
    for (const id of ids) {
      if (found.has(id) || isText(id)) continue;
      // packages that dist/ does not hold are no modules
      if (!modules.has(id) && id.startsWith(src))
        throw new Error(`dist/ has a part of a module that is not there: ${id}`);
      found.add(id);
      reachedFrom(modules.get(id)?.importedIds ?? [], found);
    }
    return found;
  };
  const unionOf = (names) => new Set(names.flatMap((name) => [...reachedBy(name)]));

  const parts = new Map(ALONE.map((root) => [idOf(root), null]));
  for (const [part, roots] of Object.entries(PARTS)) {
    const shared = roots.flatMap(({ some, others }) =>
      some ? [...unionOf(some)].filter((id) => unionOf(others).has(id)) : [],
    );
    for (const id of [...reachedBy(part), ...reachedFrom(shared)]) if (!parts.has(id)) parts.set(id, part);
  }
  return parts;
}

/** All that is imported, now or later, from some modules on: what rolldown knows of them, by id. */
function modulesOf(ids, getModuleInfo) {
  const modules = new Map();
  const todo = [...ids];
  for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
    const info = modules.has(id) ? null : getModuleInfo(id);
    if (info === null) continue;
    modules.set(id, info);
    todo.push(...info.importedIds, ...info.dynamicallyImportedIds);
  }
  return modules;
}

/**
 * Takes away the files that rolldown makes for modules that are imported later and have company in their file. These say no more than
 * which of the file's exports are the module's: the file exports them by their own names in place of short ones, and is imported itself.
 */
export function dropFacades(dist) {
  const texts = new Map();
  for (const path of readdirSync(dist, { recursive: true }).filter((path) => path.endsWith(".js")))
    texts.set(join(dist, path), readFileSync(join(dist, path), "utf8"));
  const facades = new Map();
  for (const [path, text] of texts) {
    const [, names, target, exported] = FACADE.exec(text) ?? [];
    const isRenaming = exported?.includes(" as ");
    if (target && !isRenaming && path.startsWith(join(dist, "chunks")))
      facades.set(path, { names: namesIn(names), target });
  }
  /** New names of exports, by file. */
  const renamed = new Map();
  for (const [path, { names, target }] of facades) {
    const known = renamed.get(target) ?? new Map();
    const isTaken = names.some(([inner, outer]) =>
      [...known].some(([old, name]) => (old === inner) !== (name === outer)),
    );
    if (isTaken || KEPT.includes(basename(path))) facades.delete(path);
    else renamed.set(target, new Map([...known, ...names]));
  }

  for (const [path, text] of texts) {
    if (facades.has(path)) {
      rmSync(path);
      continue;
    }
    const own = renamed.get(basename(path));
    const direct = text
      .replace(IMPORTS, (all, names, folder, target) =>
        renamed.has(target)
          ? `import { ${listOf(names, renamed.get(target))} } from "${folder}${target}"`
          : all,
      )
      .replace(EXPORTS, (all, names) =>
        own
          ? `export { ${namesIn(names)
              .map(([inner, outer]) => as(inner, own.get(outer) ?? outer))
              .join(", ")} };`
          : all,
      )
      .replace(/\bimport\("(\.[^"]*\/)([^"/]+)"\)/g, (all, folder, name) => {
        const facade = facades.get(join(dist, "chunks", name));
        return facade ? `import("${folder}${facade.target}")` : all;
      });
    if (direct !== text) writeFileSync(path, direct);
  }
}

/** Some bundlers keep the names of all exports of what import() names; of these a page would load them first. */
const KEPT = ["cpu-engine.js", "webgpu-engine.js"];
/** A file that imports from one file, and exports what it imported. */
const FACADE = /^import \{ ([^}]+) \} from "\.\/([^"]+)";\s*export \{ ([^}]+) \};\s*$/;
const IMPORTS = /^import \{ ([^}]+) \} from "(\.[^"]*\/)([^"/]+)"/gm;
const EXPORTS = /^export \{ ([^}]+) \};/gm;

const as = (inner, outer) => (inner === outer ? inner : `${inner} as ${outer}`);
/** Pairs of names: there and here. */
const namesIn = (list) =>
  list
    .split(", ")
    .map((name) => name.split(" as "))
    .map(([inner, outer = inner]) => [inner, outer]);
const listOf = (list, names) =>
  namesIn(list)
    .map(([inner, outer]) => as(names.get(inner) ?? inner, outer))
    .join(", ");
