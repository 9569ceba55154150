/** Tables as commands print them. */
import { Writable } from "node:stream";
import { binary, int32, type Table, tableFromColumns, utf8 } from "@uwdata/flechette";
import { expect, it } from "vitest";
import type { Host } from "../../src/cli/host.js";
import { printTable } from "../../src/cli/preview.js";
import { columnOf, Nulls } from "../../src/io/columns.js";

function printed(table: Table): string {
  let text = "";
  const stdout = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  printTable(table, { stdout, env: {} } as unknown as Host);
  return text;
}

it("shows the beginning of values that are longer than a string can be", () => {
  const bytes = new Uint8Array(2 ** 29 + 10); // memory that nobody reads is not taken
  new TextEncoder().encodeInto(`short${"é long".repeat(10_000)}`, bytes);
  const offsets = Int32Array.of(0, 5, bytes.length, bytes.length);
  const nulls = new Nulls(3);
  nulls.set(2);
  const id = columnOf(int32(), new Nulls(3), { values: Int32Array.of(1, 2, 3) });
  const utf8s = columnOf(utf8(), nulls, { offsets, values: bytes });
  const bytesOf = columnOf(binary(), nulls, { offsets, values: bytes });
  const [, , , first, second, third] = printed(tableFromColumns({ id, utf8s, bytesOf })).split("\n");
  expect(first).toMatch(/^ +1 {2}short +73686f7274$/);
  expect(second).toMatch(/^ +2 {2}(é long){6}é l… {2}(c3a9206c6f6e67){2}c3a9206c6f6…$/);
  expect(third).toMatch(/^ +3 {2}null +null$/);
});
