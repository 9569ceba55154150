// A page for each program of examples/: its source as it is, and where docs/examples.md speaks of it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths.mjs";
import { anchorOf } from "./markdown.mjs";

export const programs = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".mjs"));

/** Writes the pages by `write(route, text)`. */
export function examplePages(write) {
  for (const name of programs) {
    const source = readFileSync(join(root, "examples", name), "utf8");
    const text = [
      `# ${name}`,
      `What it shows and prints: [examples](./index.md#${sectionOf(name)}).`,
      `::: warning In a clone\nIt reads data that lie beside it in the repository: run \`npm ci && node examples/${name}\` in a clone.\n:::`,
      `\`\`\`js\n${source.trim()}\n\`\`\``,
    ];
    write(`examples/${name.replace(/\.mjs$/, ".md")}`, `${text.join("\n\n")}\n`);
  }
}

/** Adds to docs/examples.md, below the first command of each program, a link to its source. */
export function withSources(text) {
  const seen = new Set();
  return text.replace(/^```sh\nnode examples\/(\S+)\.mjs[^\n]*\n```$/gm, (block, name) => {
    if (seen.has(name)) return block;
    seen.add(name);
    return `${block}\n\n[Source of ${name}.mjs](./${name}.md)`;
  });
}

function sectionOf(name) {
  const page = readFileSync(join(root, "docs/examples.md"), "utf8");
  const before = page.slice(0, page.indexOf(`\nnode examples/${name}`));
  const [, heading] = [...before.matchAll(/^## (.*)$/gm)].at(-1) ?? [];
  if (heading === undefined) throw new Error(`docs/examples.md does not have ${name}`);
  return anchorOf(heading);
}
