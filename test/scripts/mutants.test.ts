/** The deliberate faults of `npm run mutants` still fit the sources, so that they don't rot. It runs none of them. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { faults, withFault } from "../../scripts/mutants/index.mjs";

interface Fault {
  name: string;
  what: string;
  file: string;
  find: string;
  replace: string;
  project: string;
  tests: string[];
}

describe("each deliberate fault", () => {
  for (const fault of faults as Fault[]) {
    it(`${fault.name} matches its file once, and names tests that are there`, () => {
      const text = readFileSync(fault.file, "utf8");
      const changed = withFault(fault, text);
      expect(changed).not.toBe(text);
      expect(changed.length).toBe(text.length - fault.find.length + fault.replace.length);
      expect(["cpu", "webgpu", "webgpu-partitioned"]).toContain(fault.project);
      expect(fault.tests.length).toBeGreaterThan(0);
      for (const file of fault.tests) expect(existsSync(file), file).toBe(true);
      expect(fault.what).not.toBe("");
    });
  }
});

it("there are 40 and more, each with a name of its own", () => {
  const names = (faults as Fault[]).map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(40);
  expect(new Set(names).size).toBe(names.length);
});

it("a fault that fits nowhere, or twice, is refused", () => {
  const fault = { name: "x", file: "y", find: "a", replace: "b" };
  expect(() => withFault(fault, "none")).toThrow("0 times in y");
  expect(() => withFault(fault, "a a")).toThrow("2 times in y");
  expect(withFault({ ...fault, replace: "$&" }, "a")).toBe("$&");
});
