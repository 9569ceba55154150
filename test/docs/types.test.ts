// The programs of README.md and of docs/ are strict TypeScript as they stand: a reader may copy each into a file of a project.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const inDocs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".md") && !path.startsWith("api"))
  .map((path) => `docs/${path}`);

/** What `npm create vite -- --template vanilla-ts` writes, with Node's types, and warpmap from its sources. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.esnext.disposable.d.ts"],
  types: ["node"],
  strict: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noFallthroughCasesInSwitch: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  noEmit: true,
  paths: {
    warpmap: [join(root, "src/index.ts")],
    "warpmap/*": [join(root, "src/*/index.ts")],
    webgpu: [join(root, "src/webgpu-package.d.ts")],
  },
};

/** The programs by the file that they become: beside the tests, so that packages are found. */
const programs = new Map(
  ["README.md", ...inDocs].flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/^```js(?: vite)?\n([\s\S]*?)^```$/gm)].map(
      ([, code], i) => [
        join(root, "test/docs", `${page.replaceAll("/", "-")}-${i + 1}.ts`),
        { page, code, number: i + 1 },
      ],
    ),
  ),
);

/** One compilation of all programs and of `more`; errors are asked for file by file, so the library itself is not checked again. */
function compiled(more: ReadonlyMap<string, string> = new Map()): ts.Program {
  const textOf = (file: string) => programs.get(file)?.code ?? more.get(file);
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => textOf(file) !== undefined || fileExists(file);
  host.readFile = (file) => textOf(file) ?? readFile(file);
  host.getSourceFile = (file, options, ...rest) => {
    const text = textOf(file);
    return text === undefined
      ? getSourceFile(file, options, ...rest)
      : ts.createSourceFile(file, text, options);
  };
  return ts.createProgram([...programs.keys(), ...more.keys()], OPTIONS, host);
}

function errorsIn(program: ts.Program, file: string): string[] {
  const source = program.getSourceFile(file);
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  return found.map(({ messageText, start = 0 }) => {
    const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
    return `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}

describe("programs as TypeScript", () => {
  const faulty = join(root, "test/docs/faulty.ts");
  const program = compiled(
    new Map([
      [
        faulty,
        'import { openDevice } from "warpmap";\nconst print = (plan) => plan;\nprint((await openDevice()).nothing);\n',
      ],
    ]),
  );

  it("are all found", () => expect(programs.size).toBeGreaterThanOrEqual(30));

  it("are checked", () =>
    expect(errorsIn(program, faulty)).toEqual([
      "line 2: Parameter 'plan' implicitly has an 'any' type.",
      "line 3: Property 'nothing' does not exist on type 'Device'.",
    ]));

  it.each([...programs].map(([file, { page, number }]) => ({ file, page, number })))(
    "$page: $number",
    ({ file }) => expect(errorsIn(program, file)).toEqual([]),
  );
});
