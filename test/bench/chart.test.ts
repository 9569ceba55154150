import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { draw } from "../../bench/chart/draw.js";
import type { Figure } from "../../bench/chart/figure.js";
import { scaleFor, short } from "../../bench/chart/scale.js";
import { widthOf, wrap } from "../../bench/chart/text.js";
import { figureOf, svgOf } from "../../bench/figures/index.js";
import { CUCO_BY_LOAD, GUPS, RETRIEVALS, SIMPLE_UTILISATION, STATIC_MAPS } from "../../bench/published.js";
import type { BenchReport, StoredReport } from "../../bench/report.js";
import { expectPicture } from "./expect-report.js";
import { elementsOf } from "./xml.js";

describe("scaleFor", () => {
  it("marks a linear axis at round numbers, from 0 to beyond the largest value", () => {
    const { ticks, at } = scaleFor("linear", [3, 259], 6);
    expect(ticks.map(({ value }) => value)).toEqual([0, 50, 100, 150, 200, 250, 300]);
    expect([at(0), at(150), at(300)]).toEqual([0, 0.5, 1]);
    expect(scaleFor("linear", [1], 5).ticks.map(({ text }) => text)).toEqual([
      "0",
      "0.2",
      "0.4",
      "0.6",
      "0.8",
      "1",
    ]);
  });

  it("marks logarithmic axes at powers", () => {
    expect(scaleFor("log2", [1, 2 ** 20], 8).ticks.map(({ text }) => text)).toEqual([
      "2⁰",
      "2⁴",
      "2⁸",
      "2¹²",
      "2¹⁶",
      "2²⁰",
    ]);
    const { ticks, at } = scaleFor("log10", [0.05, 900], 6);
    expect(ticks.map(({ text }) => text)).toEqual(["0.01", "0.1", "1", "10", "100", "1000"]);
    expect(at(0.01)).toBeCloseTo(0);
    expect(at(1000)).toBeCloseTo(1);
  });

  it("has an axis for one value, and for zero", () => {
    expect(scaleFor("linear", [0], 5).ticks.length).toBeGreaterThan(1);
    expect(scaleFor("log10", [7], 5).at(7)).toBeGreaterThan(0);
    expect(short(134_217_728)).toBe("134.2M");
  });
});

it("wraps text into lines that fit", () => {
  const text = "one two three four five six seven eight nine ten eleven twelve";
  const lines = wrap(text, 120, 12);
  expect(lines.join(" ")).toBe(text);
  expect(lines.every((line) => widthOf(line, 12) <= 120)).toBe(true);
  expect(wrap("unbreakable", 5, 12)).toEqual(["unbreakable"]);
});

it("writes any text as XML", () => {
  const odd = `<&>"' \u0007`;
  const figure: Figure = {
    title: odd,
    subtitle: odd,
    panels: [
      {
        kind: "lines",
        title: odd,
        x: { label: odd, scale: "linear" },
        y: { label: odd, scale: "log10" },
        series: [{ name: odd, origin: "published", points: [{ x: 1, y: 1 }] }],
      },
      {
        kind: "bars",
        title: odd,
        label: odd,
        groups: [{ label: odd, bars: [{ name: odd, origin: "measured", value: 0 }] }],
      },
    ],
    footer: [odd],
  };
  const texts = elementsOf(draw(figure)).map(({ text }) => text);
  expect(texts.filter((text) => text.startsWith(`<&>"'`)).length).toBeGreaterThan(8);
});

describe("pictures of reports", () => {
  const circumstances = {
    machine: "a machine",
    device: "a GPU",
    driver: "its driver",
    node: "v20.0.0",
    commit: "0123456789ab",
    date: "2026-01-02T03:04:05.000Z",
    notes: [],
  };

  it("show figures of others as such, with their source", () => {
    const report: BenchReport = {
      ...circumstances,
      bench: "gups",
      state: "warm loop",
      parameters: { "table bytes": 2 ** 30 },
      rows: [
        { operation: "random 8-byte reads", "GB/s": 259 },
        { operation: "copy", "GB/s": 2867 },
      ],
      published: GUPS,
    };
    expectPicture(report);
    const all = elementsOf(svgOf(report) ?? "")
      .map(({ text }) => text)
      .join("\n");
    for (const { of } of GUPS) expect(all).toContain(`${of} · not from this run`);
    expect(all.replaceAll("\n", " ")).toContain("Source: NVIDIA technical blog");
    for (const part of ["a machine", "its driver", "0123456789ab", "2026-01-02", "State: warm loop"])
      expect(all).toContain(part);
  });

  it("have all lines of a sweep beside others' figures", () => {
    const rows = [0.5, 0.8, 0.95].flatMap((load) =>
      ["insert", "find present", "erase"].map((operation) => ({
        size: 2 ** 27,
        load,
        operation,
        on: "webgpu",
        "GB/s": 300 - 100 * load,
      })),
    );
    const report: BenchReport = {
      ...circumstances,
      bench: "static-map",
      state: "warm loop",
      parameters: { sweep: "load", "GUPS GB/s": 259 },
      rows,
      published: CUCO_BY_LOAD,
    };
    expectPicture(report);
    const [insert] = figureOf(report)?.panels ?? [];
    expect(insert.kind === "lines" && insert.series.map(({ origin }) => origin)).toEqual([
      "measured",
      "published",
      "reference",
    ]);
  });

  const folder = join(import.meta.dirname, "../../bench/results");
  const stored = readdirSync(folder);
  const reportIn = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8")) as StoredReport;

  it("draw every stored report that has a picture", () => {
    const reports = stored.filter((file) => file.endsWith(".json")).map(reportIn);
    const drawn = reports.filter((report) => figureOf(report) !== null);
    expect(drawn.length).toBeGreaterThan(0);
    for (const report of drawn) expectPicture(report);
  });

  it.each(stored.filter((file) => file.endsWith(".svg")))("%s is what its report shows", (file) => {
    expect(readFileSync(join(folder, file), "utf8")).toBe(svgOf(reportIn(file.replace(".svg", ".json"))));
  });
});

it("states the articles' figures", () => {
  expect(GUPS.map(({ value }) => value)).toEqual([15, 141, 256, 204, 2039, 3352]);
  expect(STATIC_MAPS.slice(0, 2).map(({ value }) => value)).toEqual([87.5, 134.6]);
  expect(SIMPLE_UTILISATION.length).toBe(31);
  expect(SIMPLE_UTILISATION.at(-1)).toMatchObject({ load: 0.9375, value: 17.461378 });
  expect(RETRIEVALS.every(({ source }) => source.length > 20)).toBe(true);
});
