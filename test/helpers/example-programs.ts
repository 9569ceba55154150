/** The programs in examples/, as docs/examples.md has them: each command, and the block of text below it that says what it prints. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runProgram } from "./run-program.js";

const root = resolve(import.meta.dirname, "../..");

export interface Example {
  readonly command: string;
  /** Path of the program in the repository. */
  readonly file: string;
  readonly args: readonly string[];
  /** Undefined where the page does not say. */
  readonly prints: string | undefined;
}

export function examplesOfDocs(): Example[] {
  const page = readFileSync(join(root, "docs/examples.md"), "utf8");
  const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, language, code], i) => {
    if (language !== "sh") return [];
    const [, next, prints] = blocks[i + 1] ?? [];
    const command = code.trim();
    const [, file, ...args] = command.split(" ");
    return [{ command, file, args, prints: next === "text" ? prints : undefined }];
  });
}

/** What an example prints, with times as "… ms". @throws Error with what it says when it fails */
export async function outputOf({ file, args }: Example, options: readonly string[]): Promise<string> {
  const path = join(root, file);
  // the program is run from a bundle in another folder: its data are beside its source
  const source = readFileSync(path, "utf8").replaceAll(
    /new URL\(("[^"]*"), import\.meta\.url\)/g,
    `new URL($1, ${JSON.stringify(pathToFileURL(path).href)})`,
  );
  const { status, stdout, stderr } = await runProgram(source, [...args, ...options], 110_000);
  if (status !== 0 || stderr !== "") throw new Error(`${file} ended with status ${status}: ${stderr}`);
  return stdout.replace(/\d+ ms/g, "… ms");
}
