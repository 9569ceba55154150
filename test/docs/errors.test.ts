// docs/errors.md lists every error there is: codes, classes and fields are those of the sources.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const text = (path: string) => readFileSync(join(root, path), "utf8");

interface ErrorClass {
  code: string;
  name: string;
  /** Fields beside those of WarpmapError. */
  fields: string[];
}

const byCode = (a: ErrorClass, b: ErrorClass) => a.code.localeCompare(b.code);

/** Every class of the packages that extends WarpmapError. */
function declared(): ErrorClass[] {
  const files = ["src", "packages/cluster/src"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
  );
  return files
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => [...text(path).matchAll(/class (\w+) extends WarpmapError \{\n([\s\S]*?)^\}/gm)])
    .map(([, name, body]) => ({
      name,
      code: /declare readonly code: "(\w+)"/.exec(body)?.[1] ?? `none in ${name}`,
      fields: [...body.matchAll(/^ {2}readonly (\w+):/gm)].map(([, field]) => field),
    }))
    .sort(byCode);
}

/** The page's sections: one an error, with its fields in the first line, when it comes, and what to do. */
function documented(): ErrorClass[] {
  const section = /^## (\w+) — (\w+)\n\nFields: (.*)\.\n\n\S.*\n\n\*\*What to do\.\*\* \S/gm;
  return [...text("docs/errors.md").matchAll(section)]
    .map(([, code, name, fields]) => ({
      code,
      name,
      fields: [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field),
    }))
    .sort(byCode);
}

it("lists every class with its code and its fields", () => expect(documented()).toEqual(declared()));

it("has each code in its table, which leads to the code's section", () => {
  const rows = [...text("docs/errors.md").matchAll(/^\| \[`(\w+)`\]\(#([\w-]+)\) \|/gm)];
  const codes = documented().map(({ code, name }) => [code, `${code}--${name}`.toLowerCase()]);
  expect(rows.map(([, code, anchor]) => [code, anchor]).sort()).toEqual(codes);
});

it("lists every code that the type ErrorCode has", () => {
  const [, union] = /export type ErrorCode =([^;]*);/.exec(text("src/errors.ts")) as RegExpExecArray;
  const codes = [...union.matchAll(/"(\w+)"/g)].map(([, code]) => code);
  expect(documented().map(({ code }) => code)).toEqual(codes.sort());
});
