import { expect } from "vitest";
import { figureOf, svgOf } from "../../bench/figures/index.js";
import type { BenchReport, StoredReport } from "../../bench/report.js";
import { elementsOf } from "./xml.js";

/** Quantities of which 0 is a value like others. */
const MAY_BE_ZERO = new Set(["load", "exponent", "deepest", "mean depth", "skew"]);

const STATES = [
  "cold process",
  "first table",
  "fresh table",
  "after rest",
  "warm loop",
  "not timed",
  "by row",
] satisfies BenchReport["state"][];

/** A report that survives JSON, says where it was made, whose numbers are all positive, and whose picture shows all of it. */
export function expectReport(report: BenchReport, bench: string): void {
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  expect(report.bench).toBe(bench);
  expect(STATES).toContain(report.state);
  for (const { state } of report.rows) {
    if (report.state === "by row") expect(STATES.slice(0, -1)).toContain(state);
    else expect(state).toBeUndefined();
  }
  for (const text of [report.machine, report.device, report.node]) expect(text).not.toBe("");
  expect(Date.parse(report.date)).toBeGreaterThan(0);
  expect(report.rows.length).toBeGreaterThan(0);
  for (const row of report.rows) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value !== "number") continue;
      const what = `${name} of ${JSON.stringify(row)}`;
      if (MAY_BE_ZERO.has(name)) expect(value, what).toBeGreaterThanOrEqual(0);
      else expect(value, what).toBeGreaterThan(0);
    }
  }
}

/** A report's picture is well-formed, the same each time, and has every series of the figure with all its points. */
export function expectPicture(report: StoredReport): void {
  const figure = figureOf(report);
  const svg = svgOf(report);
  if (figure === null || svg === null) throw new Error(`${report.bench} has no picture`);
  expect(svgOf(JSON.parse(JSON.stringify(report)))).toBe(svg);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  const elements = elementsOf(svg);
  expect(elements[0]).toMatchObject({ name: "svg" });
  const drawn = elements
    .filter(({ attributes }) => "data-series" in attributes)
    .map(({ attributes }) => [attributes["data-series"], Number(attributes["data-points"])]);
  const expected = figure.panels.flatMap((panel) =>
    panel.kind === "lines"
      ? panel.series.map(({ name, points }) => [name, points.length])
      : panel.groups.flatMap(({ bars }) => bars.map(({ name }) => [name, 1])),
  );
  expect(drawn).toEqual(expected);
  expect(expected.length).toBeGreaterThan(0);
  const texts = elements.filter(({ name }) => name === "text").map(({ text }) => text);
  const all = texts.join(" ");
  for (const panel of figure.panels) {
    expect(texts).toContain(panel.title);
    for (const label of panel.kind === "lines" ? [panel.x.label, panel.y.label] : [panel.label]) {
      expect(texts).toContain(label);
    }
  }
  for (const part of [figure.title, report.device, report.date.slice(0, 10)]) expect(all).toContain(part);
}
