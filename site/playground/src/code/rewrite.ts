/**
 * A program made ready for a worker, which has no import map: what it imports becomes addresses in the playground, and import.meta
 * answers as if the file lay in a clone. Lines and columns before a change stay where they are. The parser is CodeMirror's.
 */
import { javascriptLanguage, typescriptLanguage } from "@codemirror/lang-javascript";

/** A place in the program that cannot be run. */
export interface Fault {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

export interface Rewritten {
  readonly source: string;
  /** Imports that are refused: the program is not run. */
  readonly faults: readonly Fault[];
  /** Where the program stops being JavaScript, and what to say besides what the browser says of it. */
  readonly suspect: Fault | null;
}

/** What a program may import, by the file that stands for it in lib/. */
const MODULES: Readonly<Record<string, string>> = {
  warpmap: "warpmap.js",
  "warpmap/relational": "warpmap/relational.js",
  "warpmap/io": "warpmap/io.js",
  "warpmap/sketches": "warpmap/sketches.js",
  "warpmap/wgsl": "warpmap/wgsl.js",
  "@uwdata/flechette": "flechette.js",
  "node:fs": "node-fs.js",
  "node:util": "node-util.js",
};

/** @param root URL of the playground @param name of the program */
export function rewrite(source: string, root: string, name: string): Rewritten {
  const faults: Fault[] = [];
  const changes: { from: number; to: number; text: string }[] = [];
  const clone = new URL("clone/", root).href;
  let unreadable: Fault | null = null;
  javascriptLanguage.parser.parse(source).iterate({
    enter(node) {
      const { from, to } = node;
      if (node.type.isError) unreadable ??= { from, to, message: "" };
      if (
        node.name === "ImportDeclaration" ||
        node.name === "ExportDeclaration" ||
        node.name === "DynamicImport"
      ) {
        const string = node.node.getChild("String");
        if (!string) return;
        const specifier = source.slice(string.from + 1, string.to - 1);
        const address = addressOf(specifier, root);
        if (address === null) faults.push({ from: string.from, to: string.to, message: refusal(specifier) });
        else changes.push({ from: string.from, to: string.to, text: JSON.stringify(address) });
      } else if (node.name === "ImportMeta") {
        const text = `({ url: ${JSON.stringify(`${clone}examples/${name}`)}, resolve: (name) => ${JSON.stringify(`${clone}node_modules/`)} + name + "/build/index.js" })`;
        changes.push({ from, to, text });
      }
    },
  });
  let result = "";
  let at = 0;
  for (const { from, to, text } of changes.sort((a, b) => a.from - b.from)) {
    result += source.slice(at, from) + text;
    at = to;
  }
  return { source: result + source.slice(at), faults, suspect: typesIn(source) ?? unreadable };
}

/** The first type of a program that is TypeScript. */
function typesIn(source: string): Fault | null {
  let first: Fault | null = null;
  let isTypeScript = true;
  typescriptLanguage.parser.parse(source).iterate({
    enter({ name, type, from, to }) {
      if (type.isError) isTypeScript = false;
      if (TYPES.test(name)) first ??= { from, to, message: JAVASCRIPT_ONLY };
    },
  });
  return isTypeScript ? first : null;
}

const TYPES = /^(Type[A-Z]|Interface|Enum|Namespace|Ambient|as$|satisfies$|type$)/;
const JAVASCRIPT_ONLY = "Programs are JavaScript here: leave out TypeScript's types.";

function addressOf(specifier: string, root: string): string | null {
  if (specifier in MODULES) return new URL(`lib/${MODULES[specifier]}`, root).href;
  return /^https:\/\//.test(specifier) ? specifier : null;
}

function refusal(specifier: string): string {
  return `"${specifier}" cannot be imported here. A program of the playground may import ${Object.keys(MODULES).join(", ")}, and addresses that begin with https://.`;
}
