// What can be said of the packed file without running it: publint, Are The Types Wrong, and links in its pages.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

/** Scripts that npm runs, or warns of, where a package is installed. */
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"];

/** Every message counts, suggestions too. */
export async function checkPublint({ tarball }) {
  const { buffer, byteOffset, length } = readFileSync(tarball);
  const { messages, pkg } = await publint({
    pack: { tarball: buffer.slice(byteOffset, byteOffset + length) },
    strict: true,
  });
  if (messages.length > 0) throw new Error(messages.map((message) => formatMessage(message, pkg)).join("\n"));
}

/** An ES module is all that require() gets, which Node 20.19 and later load; TypeScript calls that a problem. */
export function checkTypesExports({ tarball }) {
  const attw = createRequire(import.meta.url).resolve("@arethetypeswrong/cli/package.json");
  const { bin } = JSON.parse(readFileSync(attw, "utf8"));
  const args = [
    join(attw, "..", bin.attw),
    tarball,
    "--exclude-entrypoints",
    "engine", // without declarations: src/engine/kit.ts, src/stages/kit.ts
    "stages",
    "--ignore-rules",
    "cjs-resolves-to-esm",
    "--no-color",
  ];
  execFileSync(process.execPath, args, { encoding: "utf8", stdio: "pipe" });
}

/** @param warnings what npm printed on stderr as it installed the file */
export function checkInstall({ folder }, warnings) {
  const { scripts } = JSON.parse(readFileSync(join(folder, "node_modules/warpmap/package.json"), "utf8"));
  const run = INSTALL_SCRIPTS.filter((name) => name in scripts);
  if (run.length > 0) throw new Error(`scripts that run where the package is installed: ${run.join(", ")}`);
  if (/install-scripts|warpmap/.test(warnings)) throw new Error(warnings);
}

/** A registry shows README.md, and npm installs all pages: what they link to in the repository has to be packed. */
export function checkLinks({ folder, files }) {
  const broken = files
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) => {
      const text = readFileSync(join(folder, "node_modules/warpmap", path), "utf8").replace(
        /```[\s\S]*?```/g,
        "",
      );
      return linksOf(text)
        .filter((link) => !existsSync(join(folder, "node_modules/warpmap", posix.dirname(path), link)))
        .map((link) => `${path} links to ${link}, which is not packed`);
    });
  if (broken.length > 0)
    throw new Error(
      `${broken.join("\n")}\nAdd it to "files" in package.json, or give its address in the repository.`,
    );
}

/** Relative paths that a page links to, or shows as pictures. */
function linksOf(markdown) {
  const inline = Array.from(markdown.matchAll(/\]\(([^)\s]+)[^)]*\)/g), (match) => match[1]);
  const html = Array.from(markdown.matchAll(/(?:src|href)="([^"]+)"/g), (match) => match[1]);
  return [...inline, ...html]
    .filter((link) => !/^([a-z]+:|#)/.test(link))
    .map((link) => link.split("#", 1)[0]);
}
