// The API reference: TypeDoc's Markdown, with what typedoc.json says. It takes half a minute, so it is kept until a file of src/
// or an option changes.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Application } from "typedoc";
import { cache, root } from "../paths.mjs";
import { anchorOf } from "./markdown.mjs";
import { describeParameters } from "./parameters.mjs";

/**
 * Beside typedoc.json: one page a class, function or type, with what one calls first: `create` and methods before getters. Where the
 * sources have it is no matter of users.
 */
const OPTIONS = {
  plugin: ["typedoc-plugin-markdown"],
  readme: "none",
  disableSources: true,
  excludeExternals: true,
  sort: ["static-first", "alphabetical"],
  groupOrder: ["Constructors", "Methods", "Properties", "Accessors", "*"],
  entryFileName: "index",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  sanitizeComments: true,
  parametersFormat: "table",
  typeDeclarationFormat: "table",
  logLevel: "Warn",
};

/** What users import a module by. TypeDoc calls them by the folders of src/. */
const specifier = (module) => (module === "index" ? "warpmap" : `warpmap/${module}`);

/** Writes the pages by `write(route, text)`. @returns VitePress's sidebar of them */
export async function reference(write) {
  const folder = await made();
  const navigation = JSON.parse(readFileSync(join(folder, "navigation.json"), "utf8"));
  for (const path of readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(".md"))) {
    const route = `api/${path.replaceAll("\\", "/")}`;
    const text = withModuleName(withoutLanguage(readFileSync(join(folder, path), "utf8")));
    write(route, withFewHeadings(withSymbolsLast(text)));
  }
  write("api/index.md", overview(navigation));
  return navigation.map(({ title, path, children }) => ({
    text: specifier(title),
    link: apiLink(path),
    items: children.map((group) => groupItem(group, apiLink(path))),
  }));
}

/** A group of a module leads to its heading on the module's page: VitePress makes two buttons in each other of one that leads nowhere. */
function groupItem({ title, path, children }, moduleLink) {
  return {
    text: title,
    link: path ? apiLink(path) : `${moduleLink}#${anchorOf(title)}`,
    ...(children && { items: children.map((each) => groupItem(each, moduleLink)), collapsed: true }),
  };
}

/** Parts of a signature are no headings: the search would list "Returns" hundreds of times. */
function withFewHeadings(text) {
  const parts =
    "Call Signature|Example|Extended by|Extends|Get Signature|Implemented by|Implements|Inherited from|Overrides|Parameters|Returns|See|Set Signature|Throws|Type Parameters";
  return text.replace(new RegExp(`^#{2,6} (${parts})$`, "gm"), "**$1**").replace(/^\*\*\*$/gm, "");
}

/** A module's page has the name that users import it by, and says what it has in a sentence. */
function withModuleName(text) {
  return text.replace(/^# ([a-z]+)\n([\s\S]*)$/, (whole, module, list) => {
    const names = Array.from(list.matchAll(/^- \[(\w+)\]\((?:classes|functions)\//gm), ([, name]) => name);
    if (names.length === 0) return whole;
    return `# ${specifier(module)}\n\nWhat \`${specifier(module)}\` exports: ${names.join(", ")}, and types.\n${list}`;
  });
}

/** Leaves out what is the language's, the tag that names a class, and by which class a member came. */
function withoutLanguage(text) {
  const own = text.replace(/^#{3,5} (?:Inherited from|Overrides)\n\n.*\n+/gm, "");
  return own.replace(/^### \\\[toStringTag\\\]\n[\s\S]*?(?=^##? |^### |(?![\s\S]))/gm, "");
}

/** Members that are called by `using` and not by name come behind the others of their group. */
function withSymbolsLast(text) {
  return text.replace(/^(## Methods\n\n)([\s\S]*?)(?=^## |(?![\s\S]))/gm, (_, heading, group) => {
    const members = group.trimEnd().split(/\n\n\*\*\*\n\n/);
    const isSymbol = (member) => member.startsWith("### \\[");
    const sorted = [...members.filter((each) => !isSymbol(each)), ...members.filter(isSymbol)];
    return `${heading}${sorted.join("\n\n***\n\n")}\n\n`;
  });
}

const apiLink = (path) => `/api/${path.replace(/index\.md$/, "").replace(/\.md$/, ".html")}`;

/** One list of everything that can be imported. */
function overview(navigation) {
  const lines = ["# API reference", "", "Made from the documentation comments of the sources.", ""];
  for (const { title, path, children } of navigation) {
    lines.push(
      `## ${specifier(title)}`,
      "",
      `\`import { … } from "${specifier(title)}"\` — [all of it](./${path})`,
      "",
    );
    for (const group of children)
      lines.push(
        `**${group.title}**: ${group.children.map((each) => `[${each.title}](./${each.path})`).join(", ")}`,
        "",
      );
  }
  return lines.join("\n");
}

/** The folder with TypeDoc's output. */
async function made() {
  const folder = join(cache, `api-${fingerprint()}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache))
    if (name.startsWith("api-")) rmSync(join(cache, name), { recursive: true });
  const unfinished = `${folder}-unfinished`;
  const app = await Application.bootstrapWithPlugins({
    ...OPTIONS,
    options: join(root, "typedoc.json"),
    navigationJson: join(unfinished, "navigation.json"),
    out: unfinished,
    outputs: [{ name: "markdown", path: unfinished }],
  });
  describeParameters(app);
  const project = await app.convert();
  if (project) await app.generateOutputs(project);
  if (!project || app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error("TypeDoc found faults: see above");
  renameSync(unfinished, folder);
  return folder;
}

function fingerprint() {
  const hash = createHash("sha256").update(JSON.stringify(OPTIONS));
  hash.update(readFileSync(join(import.meta.dirname, "parameters.mjs")));
  const sources = readdirSync(join(root, "src"), { recursive: true })
    .filter((path) => path.endsWith(".ts"))
    .sort();
  for (const path of ["typedoc.json", ...sources.map((path) => `src/${path}`)])
    hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest("hex").slice(0, 16);
}
