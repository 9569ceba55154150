import { expect, it } from "vitest";
import { amountText } from "../../src/cli/progress.js";
import { StageClock } from "../../src/cli/stage-clock.js";

function clock(): StageClock {
  const stages = new StageClock();
  stages.add("read", 1, "a.csv");
  stages.add("hash join", 2);
  stages.add("write", 0);
  return stages;
}

it("prints a line a stage", () => {
  expect(clock().text(4)).toBe(
    [
      "  read       1.000 s  a.csv",
      "  hash join  2.000 s",
      "  write      0.000 s",
      "  total      4.000 s",
      "",
    ].join("\n"),
  );
});

it("draws each stage where it was in time", () => {
  const [read, join, write, total] = clock()
    .text(4, true)
    .split("\n")
    .map((line) => line.slice(20));
  expect(read).toBe(`  ${"█".repeat(8)}${" ".repeat(24)}  a.csv`);
  expect(join).toBe(`  ${" ".repeat(8)}${"█".repeat(16)}`);
  expect(write).toBe(`  ${" ".repeat(24)}▏`);
  expect(total).toBe(`  ${"█".repeat(32)}`);
  expect(new StageClock().text(0, true)).toMatch(/^ {2}total {2}0\.000 s {2}▏\n$/);
});

it("says how much is done", () => {
  expect(amountText(1200, 3_000_000, "rows")).toBe("1,200 of 3,000,000 rows");
  expect(amountText(1_234_567, 20_000_000, "bytes")).toBe("1.2 of 20.0 MB");
});
