// Numbers for people, beside Intl's.
import { expect, it } from "vitest";
import { grouped } from "../../src/cli/text.js";

it("groups digits by thousands", () => {
  const intl = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  for (const value of [0, 7, 999, 1000, -1000, 12_345, 1_234_567.4, -999_999.5, 2 ** 53])
    expect(grouped(value)).toBe(intl.format(value));
});
