// What is made of the repository's pages before VitePress sees them: links, diagrams, figures, examples.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { elementsOf } from "../../test/bench/xml.ts";
import { figureHtml, figureOf, reports } from "../figures/index.mjs";
import { diagramHtml } from "../generate/diagrams.mjs";
import { siteLink } from "../generate/links.mjs";
import { anchorOf, sectionsOf, withPowers } from "../generate/markdown.mjs";
import { documentationSidebar } from "../generate/sidebar.mjs";
import { sourcePages } from "../generate/sources.mjs";
import { REPOSITORY, root } from "../paths.mjs";

const pages = sourcePages();
const pageOf = (source) => pages.find((page) => page.source === source);

describe("links", () => {
  it.each([
    ["docs/errors.md", "recipes/tables.md#reuse-arrays", "./recipes/tables.md#reuse-arrays"],
    ["docs/recipes/page.md", "../memory.md", "../memory.md"],
    ["docs/why.md", "../README.md#a-join", "./join.md"],
    ["docs/why.md", "../README.md#a-map-that-grows", "./first-map.md#a-map-that-grows"],
    ["docs/why.md", "../README.md", "./index.md"],
    ["docs/why.md", "../FEATURES.md#where-it-was-run", "./features.md#where-it-was-run"],
    ["FEATURES.md", "docs/internals/bytes.md", "./internals/bytes.md"],
    ["docs/comparison.md", `${REPOSITORY}/bench/results/join-h100.json`, "./benchmarks/join-h100.md"],
    ["docs/examples.md", `${REPOSITORY}/examples/data/README.md`, `${REPOSITORY}/examples/data/README.md`],
    ["docs/examples.md", `${REPOSITORY}/examples/triangles.mjs`, "./triangles.md"],
    ["docs/errors.md", "#anchor", "#anchor"],
    ["docs/errors.md", "https://example.com/x.md", "https://example.com/x.md"],
  ])("%s: %s", (source, url, expected) => expect(siteLink(pageOf(source), pages, url)).toBe(expected));

  it("are refused where there is no such file", () =>
    expect(() => siteLink(pageOf("docs/errors.md"), pages, "nothing.md")).toThrow(
      "there is no docs/nothing.md",
    ));
});

it("the sidebar has every page of docs/ once", () => {
  const links = (items) =>
    items.flatMap(({ link, items }) => [...(link ? [link] : []), ...links(items ?? [])]);
  const all = links(documentationSidebar(pages));
  const expected = pages
    .filter(({ source }) => source.startsWith("docs/") && source !== "docs/README.md")
    .map(({ route }) => `/${route.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, ".html")}`);
  for (const link of expected)
    expect(
      all.filter((other) => other === link),
      link,
    ).toHaveLength(1);
});

describe("diagrams", () => {
  const sources = pages.flatMap(({ source, text }) =>
    Array.from(text.matchAll(/^```mermaid\n([\s\S]*?)^```$/gm), ([, diagram]) => [source, diagram]),
  );

  it.each(sources)("of %s are drawn, with all their labels", (_source, diagram) => {
    const text = diagramHtml(diagram)?.replace(/<[^>]*>/g, " ");
    expect(text).toBeDefined();
    const labels = Array.from(diagram.matchAll(/[[{(]([a-z][^\][{}()`]*)[\]})]/g), ([, label]) => label);
    for (const label of labels) expect(text).toContain(label);
  });

  it("say where an arrow leads", () => {
    const text = diagramHtml("flowchart LR\n  a[one] -- over --> b{two} --> c\n  b -. under .-> a\n");
    expect(
      text
        .replace(/<[^>]*>/g, " ")
        .split(/\s+/)
        .join(" ")
        .trim(),
    ).toBe("one over → two → c two under → one");
  });

  it("of other kinds stay code", () => {
    expect(diagramHtml('pie\n  "a": 1\n')).toBeUndefined();
    expect(diagramHtml("flowchart LR\n  subgraph x y\n")).toBeUndefined();
  });
});

describe("figures", () => {
  const drawn = [...reports].filter(([, report]) => figureOf(report) !== null).map(([name]) => name);

  it("there is one of nearly every report", () => expect(drawn.length).toBeGreaterThan(reports.size - 3));

  it.each(drawn)("%s", (name) => {
    const html = figureHtml(name);
    expect(html).toBe(figureHtml(name));
    expect(html).not.toMatch(/NaN|undefined|\n/);
    const figure = figureOf(reports.get(name));
    const texts = elementsOf(html.replace(" v-pre", ""))
      .map(({ text }) => text)
      .join(" ");
    for (const { title } of figure.panels) expect(texts).toContain(title);
    for (const line of figure.footer) expect(texts).toContain(line);
    const bars = figure.panels.flatMap(({ groups = [] }) => groups.flatMap(({ bars }) => bars));
    const rects = html.match(/<rect /g)?.length ?? 0;
    // drawn twice, for wide and for narrow pages
    expect(rects).toBe(2 * bars.length);
    const points = figure.panels.flatMap(({ series = [] }) =>
      series.filter(({ origin }) => origin !== "reference").flatMap(({ points }) => points),
    );
    if (points.length > 0)
      expect(html.match(/<path transform="translate/g).length).toBeGreaterThanOrEqual(points.length);
  });
});

it("prints powers outside code and headings", () =>
  expect(withPowers("# 2^27\n2^27 is `2^27`\n```\n2^27\n```\n10^9")).toBe(
    "# 2^27\n2²⁷ is `2^27`\n```\n2^27\n```\n10⁹",
  ));

it("cuts README.md at its headings, not at comments in code", () => {
  const headings = sectionsOf(readFileSync(join(root, "README.md"), "utf8")).map(({ heading }) => heading);
  expect(headings[0]).toBeNull();
  expect(headings).toContain("A join");
  expect(sectionsOf("a\n```sh\n## no\n```\n## yes\nb")).toEqual([
    { heading: null, text: "a\n```sh\n## no\n```" },
    { heading: "yes", text: "b" },
  ]);
  expect(anchorOf("What `toBytes` writes, and 2 more")).toBe("what-tobytes-writes-and-2-more");
});
