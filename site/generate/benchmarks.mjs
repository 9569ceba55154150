// A page for each stored report: its picture, where and how it was taken, its notes and all of its rows.
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { figureHtml, figureOf, reports } from "../figures/index.mjs";
import { pages, root } from "../paths.mjs";

const cell = (text) => String(text).replace(/[|<>{}]/g, (character) => `&#${character.codePointAt(0)};`);
const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

/** Writes the pages by `write(route, text)`. @returns VitePress's sidebar of them */
export function benchmarkPages(write) {
  for (const name of reports.keys()) write(`benchmarks/${name}.md`, reportPage(name));
  const json = join(pages, "public/reports");
  mkdirSync(json, { recursive: true });
  for (const name of reports.keys())
    cpSync(join(root, `bench/results/${name}.json`), join(json, `${name}.json`));
  const names = [...reports.keys()];
  const isGpu = (name) => reports.get(name).device.startsWith("CPU") === false;
  const item = (name) => ({ text: titleOf(name), link: `/benchmarks/${name}.html` });
  return [
    {
      text: "Benchmarks",
      link: "/benchmarks/",
      items: [{ text: "Hash maps of C++", link: "/benchmarks/peers.html" }],
    },
    { text: "Reports: GPU", items: names.filter(isGpu).map(item) },
    { text: "Reports: CPU", items: names.filter((name) => !isGpu(name)).map(item) },
  ];
}

/** Titles of reports that no benchmark draws. */
const TITLES = { "before-after": "Two commits beside each other" };

/** What a report is about. Where several are about the same, what the report's name has that the shortest has not: "run 2". */
export function titleOf(name) {
  const title = (each) => {
    const { bench } = reports.get(each);
    const plain = TITLES[bench] ?? bench[0].toUpperCase() + bench.slice(1).replaceAll("-", " ");
    return figureOf(reports.get(each))?.title ?? plain;
  };
  const same = [...reports.keys()].filter((other) => title(other) === title(name));
  const shortest = same.reduce((a, b) => (b.length < a.length ? b : a), name);
  const usual = shortest.split("-");
  const own = name.split("-").filter((word) => !usual.includes(word));
  return name === shortest ? title(name) : `${title(name)}: ${own.join(" ")}`;
}

/** Benchmarks whose GB/s are 8 bytes × keys / time, not bytes that something moves. */
const OF_KEYS = new Set(["static-map", "group-size", "load-factor", "large-table", "skew", "retrieve-all"]);
const RATE = "million a second";

/** A row with its rates in the unit of the pictures. */
function inMillions(bench, row) {
  const entries = Object.entries(row).map(([column, value]) => {
    const factor = column === "GB/s" && OF_KEYS.has(bench) ? 125 : /^G( ops)?\/s$/.test(column) ? 1000 : 0;
    return factor > 0 && typeof value === "number" ? [RATE, value * factor] : [column, value];
  });
  return Object.fromEntries(entries);
}

function reportPage(name) {
  const report = reports.get(name);
  const figure = figureOf(report);
  const inUnit = report.rows.map((row) => inMillions(report.bench, row));
  const columns = [...new Set(inUnit.flatMap(Object.keys))].filter((column) => !column.startsWith("rounds "));
  const rows = inUnit.map((row) => columns.map((column) => valueText(row[column])));
  return [
    "---\naside: false\n---\n",
    `# ${titleOf(name)}`,
    figure?.subtitle ?? "",
    figureHtml(name) ?? "",
    "## How it was taken",
    table(["what", "in this report"], circumstances(report)),
    (report.notes ?? []).length === 0
      ? ""
      : `## Notes\n\n${report.notes.map((note) => `- ${cell(note)}`).join("\n")}`,
    `## All rows\n\n[The report as JSON](../reports/${name}.json)`,
    `::: details ${report.rows.length} rows\n\n${table(columns, rows)}\n\n:::`,
    "",
  ].join("\n\n");
}

function circumstances({ bench, state, machine, device, driver, node, commit, date, parameters }) {
  return [
    ["benchmark", bench],
    ["state of the machine", state ?? parameters.state ?? "not stated in this report"],
    ["device", device],
    ["driver", driver || "–"],
    ["host", `${machine}, Node ${node}`],
    ["commit", commit ?? "not known"],
    ["date", date],
    ...Object.entries(parameters).map(([key, value]) => [key, valueText(value)]),
  ];
}

/** Numbers to four digits: a report has all that the clock gave. */
function valueText(value) {
  if (typeof value !== "number") return value ?? "–";
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(4)));
}
