import stringWidth from "string-width";
import { expect, it } from "vitest";
import { type GridColumn, renderGrid } from "../../src/cli/grid.js";
import { type Output, widthOf } from "../../src/cli/host.js";

const plain = { width: Number.POSITIVE_INFINITY, styled: false };

function lines(columns: readonly GridColumn[], width = Number.POSITIVE_INFINITY): string[] {
  return renderGrid(columns, { width, styled: false }).text.trimEnd().split("\n");
}

it("sets numbers flush right, text flush left, and shows nulls", () => {
  const columns: GridColumn[] = [
    { name: "name", note: "utf8", cells: ["a", null, "ccc"] },
    { name: "n", note: "int64", cells: ["1", "1000", null], numeric: true },
  ];
  expect(lines(columns)).toEqual([
    "name      n",
    "utf8  int64",
    "────  ─────",
    "a         1",
    "null   1000",
    "ccc    null",
  ]);
});

it("counts the cells of wide characters", () => {
  const columns: GridColumn[] = [
    { name: "text", cells: ["漢字", "👩‍👩‍👧‍👦 family", "é"] },
    { name: "n", cells: ["1", "2", "3"], numeric: true },
  ];
  const printed = lines(columns);
  expect(new Set(printed.map((line) => stringWidth(line))).size).toBe(1);
});

it("cuts text between characters, never numbers", () => {
  const columns: GridColumn[] = [
    { name: "text", cells: ["漢字".repeat(40), "x".repeat(80)] },
    { name: "number", cells: ["123456789012345", "1"], numeric: true },
  ];
  expect(lines(columns)[2]).toBe(`${"漢字".repeat(9)}漢…   123456789012345`);
  for (const width of [30, 40, 50]) {
    const printed = lines(columns, width);
    for (const line of printed) expect(stringWidth(line)).toBeLessThanOrEqual(width);
    expect(printed[2]).toMatch(/…\s+123456789012345$/);
  }
});

it("leaves out columns that have no room, and names them", () => {
  const columns = ["a", "b", "c", "d"].map((name) => ({ name, cells: ["x".repeat(20)] }));
  const { text, omitted } = renderGrid(columns, { width: 30, styled: false });
  expect(omitted).toEqual(["c", "d"]);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(30);
  expect(renderGrid(columns, { width: 1, styled: false }).omitted).toEqual(["b", "c", "d"]);
});

it("shows control characters as escapes", () => {
  const cells = ["a\nb\tc", "\u001b[31mred", "\u202eabc"];
  expect(renderGrid([{ name: "x", cells }], plain).text).toBe(
    `x\n${"─".repeat(13)}\na\\nb\\tc\n\\u001b[31mred\n\\u202eabc\n`,
  );
});

it("draws a table without rows or columns", () => {
  expect(lines([{ name: "a", cells: [] }])).toEqual(["a", "─"]);
  expect(renderGrid([], plain).text).toBe("\n\n");
});

it("styles only where asked to", () => {
  const columns = [{ name: "a", cells: [null] }];
  expect(renderGrid(columns, { ...plain, styled: true }).text).toContain("\u001b[1m");
  expect(renderGrid(columns, plain).text).not.toContain("\u001b");
});

it("takes a terminal that does not say how wide it is for one of 80 columns", () => {
  const stream = (columns?: number) => ({ columns }) as Output;
  expect([stream(120), stream(0), stream()].map(widthOf)).toEqual([120, 80, Number.POSITIVE_INFINITY]);
});

it("shows control characters in names and notes as escapes, and in the names of what had no room", () => {
  const name = "\u001b[2J\u009bx\ny";
  const columns = [
    { name, note: "timestamp[us, \u001b]0;x\u0007]", cells: ["a"] },
    { name, cells: ["a"] },
  ];
  const { text, omitted } = renderGrid(columns, { width: 1, styled: false });
  expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  expect(text.split("\n").length).toBe(5);
  expect(omitted).toEqual(["\\u001b[2J\\u009bx\\ny"]);
});

it("takes a terminal that does not say for 80 columns wide", () => {
  expect(widthOf({ isTTY: true } as Output)).toBe(80);
  expect(widthOf({} as Output)).toBe(Number.POSITIVE_INFINITY);
});
