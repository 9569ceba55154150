// Consumers of the package, compiled in every set-up that the README names. skipLibCheck is off: the package's own
// declarations are checked as well.
import { join } from "node:path";
import typescript6 from "typescript";
import typescript5 from "typescript-5";

const NODE = { module: "nodenext" };
const BUNDLER = { module: "esnext", moduleResolution: "bundler" };
const BEFORE_EXPORTS = { module: "esnext", moduleResolution: "node10" };
const DOM = ["ES2022", "DOM"];
const NO_DOM = ["ES2022"];
const WEBGPU_TYPES = ["@webgpu/types"];

/** A set-up, whether WebGPU types are there, and whether it is the first to look at with its TypeScript. */
export const setUps = [
  { title: "NodeNext, DOM", ts: typescript6, ...NODE, lib: DOM, gpuTypes: true },
  { title: "NodeNext, no DOM", ts: typescript6, ...NODE, lib: NO_DOM, types: ["node"], gpuTypes: false },
  {
    title: "a bundler's resolution, DOM",
    ts: typescript6,
    ...BUNDLER,
    lib: DOM,
    gpuTypes: true,
    isFirst: true,
  },
  { title: "NodeNext, DOM", ts: typescript5, ...NODE, lib: DOM, gpuTypes: false },
  {
    title: "NodeNext, DOM, @webgpu/types",
    ts: typescript5,
    ...NODE,
    lib: DOM,
    types: WEBGPU_TYPES,
    gpuTypes: true,
  },
  {
    title: 'moduleResolution "node", DOM',
    ts: typescript5,
    ...BEFORE_EXPORTS,
    lib: DOM,
    gpuTypes: false,
    isFirst: true,
  },
];

/** @param project with fixtures/ as src/, @types/node and @webgpu/types */
export function checkTypes({ folder }, { ts, gpuTypes, title: _, isFirst: __, ...setUp }) {
  const { options, errors } = ts.convertCompilerOptionsFromJson(
    { types: [], ...setUp, strict: true, noEmit: true, target: "es2022", skipLibCheck: false },
    folder,
  );
  options.configFilePath = join(folder, "tsconfig.json"); // packages in `types` are looked for beside it
  const files = ["consumer.ts", gpuTypes ? "gpu-types.ts" : "no-gpu-types.ts"];
  const program = ts.createProgram({
    rootNames: files.map((file) => join(folder, "src", file)),
    options,
    host: hostOf(ts, options),
  });
  const found = [...errors, ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
  for (const file of program.getSourceFiles()) {
    // the consumer and the package: TypeScript's own libraries and other packages are not ours to answer for
    if (!file.fileName.startsWith(join(folder, "src")) && !file.fileName.includes("node_modules/warpmap/"))
      continue;
    found.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file));
  }
  if (found.length === 0) return;
  throw new Error(
    ts.formatDiagnostics(found, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => folder,
      getNewLine: () => "\n",
    }),
  );
}

/** Parsed files of TypeScript's own libraries, by their path: programs share them. */
const libraries = new Map();

function hostOf(ts, options) {
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (path, ...rest) => {
    if (!/\/typescript(-5)?\/lib\//.test(path)) return getSourceFile(path, ...rest);
    if (!libraries.has(path)) libraries.set(path, getSourceFile(path, ...rest));
    return libraries.get(path);
  };
  return host;
}
