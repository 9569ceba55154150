// What the playground's view Try says of a comparison, and the programs that it writes.
import { describe, expect, it } from "vitest";
import { programOf } from "../playground/src/try/view/program.ts";
import { verdictOf } from "../playground/src/try/view/verdict.ts";

const contest = (name, ms, more = {}) => ({
  name,
  how: "",
  loadMs: 100,
  rows: 1,
  same: true,
  ms,
  runs: 3,
  stages: [],
  ...more,
});

describe("a comparison", () => {
  const said = (own, others, inputRows = 3_000_000) =>
    verdictOf({
      contests: [contest("warpmap, cpu", own.ms, { same: null, loadMs: null, ...own }), ...others],
      inputRows,
      compared: "",
    });

  it("says that warpmap was the fastest, and by how much", () =>
    expect(said({ ms: 100 }, [contest("Map", 250), contest("DuckDB", 190)])).toEqual([
      "warpmap was the fastest: warpmap took 100 ms, DuckDB 190 ms, 1.9 times as long.",
    ]));

  it("takes a tenth for a draw", () =>
    expect(said({ ms: 105 }, [contest("Map", 100)])).toEqual([
      "As fast as the fastest: warpmap took 105 ms, Map 100 ms.",
    ]));

  it("says that warpmap was not, and why", () => {
    const stages = [
      { name: "hash join", ms: 2 },
      { name: "materialise", ms: 18 },
    ];
    const [verdict, ...reasons] = said(
      { ms: 21.5, stages },
      [contest("Map", 7.5), contest("DuckDB", 44)],
      203_376,
    );
    expect(verdict).toBe(
      "warpmap was not the fastest here: warpmap took 21.5 ms, Map 7.5 ms. It took 2.9 times as long.",
    );
    expect(reasons).toHaveLength(3);
    expect(reasons[0]).toContain("203,376 rows are few");
    expect(reasons[1]).toContain("84 % of its time went into “materialise”");
    expect(reasons[2]).toContain("took 100 ms");
  });

  it("does not blame the size where there are millions of rows", () =>
    expect(said({ ms: 200 }, [contest("Map", 50, { loadMs: 10 })])).toHaveLength(1));

  it("says nothing where nothing was timed beside", () => {
    expect(said({ ms: 1 }, [contest("Map", null)])).toEqual([]);
    expect(said({ ms: null }, [contest("Map", 1)])).toEqual([]);
  });
});

describe("a program", () => {
  const tables = { left: { name: 'my "own".csv', delimiter: ";" }, right: { name: "b.parquet" } };

  it("joins files by their names", () => {
    const spec = { kind: "join", how: "left", on: [["a", 'b"']], select: ["a"] };
    const program = programOf({ spec, engine: "auto", tables });
    expect(program).toContain('const left = await readTable("my \\"own\\".csv", { delimiter: ";" });');
    expect(program).toContain('const right = await readTable("b.parquet");');
    expect(program).toContain(
      'join(left, right, { on: [["a", "b\\""]], how: "left", select: ["a"], device })',
    );
    expect(program).not.toContain("fetch");
  });

  it("groups, with every name a property may have", () => {
    const aggregates = [
      { name: "n", fn: "count" },
      { name: "mean x", fn: "mean", column: "x" },
      { name: "__proto__", fn: "max", column: "x" },
    ];
    const program = programOf({ spec: { kind: "group", by: ["k"], aggregates }, engine: "cpu", tables });
    expect(program).toContain('import { count, groupBy, max, mean } from "warpmap/relational";');
    expect(program).toContain("    n: count(),\n");
    expect(program).toContain('    "mean x": mean("x"),\n');
    expect(program).toContain('    ["__proto__"]: max("x"),\n');
    expect(program).toContain('openDevice({ backend: "cpu" })');
  });

  it("fetches samples from where they are", () => {
    const left = { name: "f.parquet", url: "https://example.org/samples/f.parquet" };
    const program = programOf({ spec: { kind: "distinct", on: [] }, engine: "software", tables: { left } });
    expect(program).toContain(
      'await readTable(await bytesOf("https://example.org/samples/f.parquet"), { format: "parquet" })',
    );
    expect(program).toContain("distinct(table, { device })");
    expect(program).toContain('{ backend: "webgpu", software: true }');
  });
});
