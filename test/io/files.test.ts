import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { int32, map, tableFromArrays } from "@uwdata/flechette";
import { expect, it } from "vitest";
import { FormatError } from "../../src/errors.js";
import { fileErrorFrom } from "../../src/io/errors.js";
import { formatOf } from "../../src/io/formats.js";
import { FileError, readTable, writeTable } from "../../src/io/index.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
const table = tableFromArrays({ a: [1, 2] });

it("knows formats by extension", () => {
  const names = ["a.csv", "b.PARQUET", "c.d.arrow", "/x/y.feather", "z.ipc", "a.csv.gz", "b.tsv"];
  expect(names.map(formatOf)).toEqual(["csv", "parquet", "arrow", "arrow", "arrow", "csv", "tsv"]);
  for (const name of ["a.json", "csv", "a.gz", "a.csv/b", ".csv", ""])
    expect(() => formatOf(name)).toThrow(FormatError);
});

it.each(["csv", "parquet", "arrow"])("says what is wrong with the path of a .%s file", async (extension) => {
  const missing = readTable(path(`missing.${extension}`));
  await expect(missing).rejects.toThrow(`missing.${extension}: no such file or directory`);
  await expect(missing).rejects.toBeInstanceOf(FileError);
  const folder = path(`folder.${extension}`);
  mkdirSync(folder);
  await expect(readTable(folder)).rejects.toThrow(/is a directory/);
  await expect(writeTable(path(`no/such/folder.${extension}`), table)).rejects.toThrow(
    /no such file or directory/,
  );
});

it("leaves nothing behind, and the old file in place, when writing fails", async () => {
  const file = path("kept.parquet");
  writeFileSync(file, "before");
  const nested = tableFromArrays({ l: [[[null, 1]]] }, { types: { l: map(int32(), int32()) } });
  await expect(writeTable(file, nested)).rejects.toThrow(/key that is null/);
  expect(readFileSync(file, "utf8")).toBe("before");
  const aborted = writeTable(path("aborted.csv"), table, { signal: AbortSignal.abort() });
  await expect(aborted).rejects.toThrow(/abort/);
  expect(existsSync(path("aborted.csv"))).toBe(false);
  expect(readdirSync(dirname(file)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

it("replaces what a link points to, and keeps the link", async () => {
  writeFileSync(path("target.csv"), "old");
  symlinkSync(path("target.csv"), path("link.csv"));
  await writeTable(path("link.csv"), table);
  expect(readFileSync(path("target.csv"), "utf8")).toBe("a\n1\n2\n");
});

it.each([
  ["EACCES", /secret\.csv: permission denied/],
  ["ENOSPC", /secret\.csv: no space is left/],
  ["EMFILE", /secret\.csv: cannot be read \(too many open files\)/],
])("puts the system's %s into words", (code, message) => {
  const error = Object.assign(new Error("too many open files"), { code });
  expect(String(fileErrorFrom("secret.csv", error, "cannot be read", "Check the file."))).toMatch(message);
});

it.each(["csv", "parquet", "arrow"])("rejects with the signal's own reason: %s", async (extension) => {
  const file = path(`stopped.${extension}`);
  await writeTable(file, table);
  for (const reason of [new RangeError("enough"), "enough", { code: "ENOENT" }]) {
    const signal = AbortSignal.abort(reason);
    expect(await readTable(file, { signal }).catch((error: unknown) => error)).toBe(reason);
    expect(await writeTable(file, table, { signal }).catch((error: unknown) => error)).toBe(reason);
  }
});
