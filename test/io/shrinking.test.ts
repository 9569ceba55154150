// Files that become shorter while they are read are errors, whatever the format and wherever it happens; and files that lose their name are not.
import { renameSync, truncateSync, writeFileSync } from "node:fs";
import { type Table, tableFromArrays } from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { fileSource } from "../../src/io/file-source.js";
import { FileError, readBatches, readTable, writeTable } from "../../src/io/index.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
const rows = 400_000;
function* batches(): Generator<Table> {
  for (let part = 0; part < 2; part++) {
    const id = Int32Array.from({ length: rows }, (_, i) => Math.imul(i + part * rows, 0x9e3779b1));
    yield tableFromArrays({ id, text: Array.from(id, (each) => `text ${each % 977}`) });
  }
}

describe.each(["csv", "parquet", "arrow"])("a .%s file that becomes shorter while it is read", (format) => {
  it("is an error", async () => {
    const file = path(`short.${format}`);
    await writeTable(file, batches());
    const reader = readBatches(file);
    await reader.next();
    truncateSync(file, 2 ** 20);
    const rest = (async () => {
      for await (const _ of reader);
    })();
    await expect(rest).rejects.toThrow("became shorter while it was read. Read it when nobody writes to it.");
  });
});

it("csv that becomes shorter at the end of a record is an error too", async () => {
  const file = path("lines.csv");
  writeFileSync(file, "n\n".repeat(3 * 2 ** 20));
  let cut = false;
  const onProgress = () => {
    if (!cut) truncateSync(file, 2 ** 21);
    cut = true;
  };
  const call = readTable(file, { threads: 1, onProgress });
  await expect(call).rejects.toThrow(FileError);
  await expect(call).rejects.toThrow("became shorter");
});

it("a file that another one replaces is read to its end", async () => {
  const [file, other] = [path("old.csv"), path("new.csv")];
  writeFileSync(file, "n\n".repeat(3 * 2 ** 20));
  writeFileSync(other, "m\n1\n");
  const source = await fileSource(file, file);
  let bytes = 0;
  for await (const piece of source.pieces()) {
    if (bytes === 0) renameSync(other, file);
    bytes += piece.length;
  }
  expect(bytes).toBe(6 * 2 ** 20);
  expect(new TextDecoder().decode(await source.at?.(0, 3))).toBe("n\nn");
  await source.close();
});

it("a file that becomes longer is read as far as it goes", async () => {
  const file = path("longer.csv");
  writeFileSync(file, "n\n1\n");
  const source = await fileSource(file, file);
  writeFileSync(file, "n\n1\n2\n");
  let text = "";
  for await (const piece of source.pieces()) text += new TextDecoder().decode(piece);
  expect(text).toBe("n\n1\n2\n");
  await source.close();
});
