/** The program that does what the view has done: to copy, and for samples to open in the view Code. */
import type { EngineChoice } from "../../engines.js";
import { type AggregateSpec, type Side, type Spec, tablesFor } from "../protocol.js";

/** Where a table of the program comes from. */
export interface ProgramTable {
  /** Of its file. */
  readonly name: string;
  /** Of a sample, which a program reads from there; undefined for a file of the reader's. */
  readonly url?: string;
  readonly delimiter?: string;
}

export interface ProgramFacts {
  readonly spec: Spec;
  readonly engine: EngineChoice;
  readonly tables: Partial<Record<Side, ProgramTable>>;
}

const DEVICES: Readonly<Record<EngineChoice, string>> = {
  auto: "",
  webgpu: '{ backend: "webgpu" }',
  software: '{ backend: "webgpu", software: true }',
  cpu: '{ backend: "cpu" }',
};

/** @returns the text of a program for Node, and where both tables are samples for a page, too */
export function programOf({ spec, engine, tables }: ProgramFacts): string {
  const { left, right } = tablesFor(tables, spec.kind);
  const isJoin = spec.kind === "join";
  const names = isJoin ? ["left", "right"] : ["table"];
  const reads = (isJoin ? [left, right] : [left]).map((table, i) => readOf(names[i], table));
  return [
    'import { openDevice } from "warpmap";',
    'import { readTable } from "warpmap/io";',
    `import { ${importsOf(spec).join(", ")} } from "warpmap/relational";`,
    "",
    ...((left.url ?? (isJoin && right.url)) ? [FETCH, ""] : []),
    `const device = await openDevice(${DEVICES[engine]});`,
    ...reads,
    `const result = await ${callOf(spec)};`,
    "console.log(result.numRows, result.names);",
    "console.log(result.at(0));",
    "device.destroy();",
    "",
  ].join("\n");
}

const FETCH = "const bytesOf = async (url) => (await fetch(url)).blob();";

function readOf(name: string, { name: file, url, delimiter }: ProgramTable): string {
  const options = [
    ...(url === undefined ? [] : [`format: ${text(/\.(\w+)$/.exec(file)?.[1] ?? "")}`]),
    ...(delimiter === undefined ? [] : [`delimiter: ${text(delimiter)}`]),
  ];
  const source = url === undefined ? text(file) : `await bytesOf(${text(url)})`;
  return `const ${name} = await readTable(${source}${options.length > 0 ? `, { ${options.join(", ")} }` : ""});`;
}

function importsOf(spec: Spec): string[] {
  switch (spec.kind) {
    case "join":
      return ["join"];
    case "distinct":
      return ["distinct"];
    case "group":
      return [...new Set(["groupBy", ...spec.aggregates.map(({ fn }) => fn)])].sort();
  }
}

function callOf(spec: Spec): string {
  switch (spec.kind) {
    case "join": {
      const on = spec.on.map(([left, right]) => `[${text(left)}, ${text(right)}]`).join(", ");
      const select = spec.select ? `, select: ${list(spec.select)}` : "";
      return `join(left, right, { on: [${on}], how: ${text(spec.how)}${select}, device })`;
    }
    case "distinct":
      return `distinct(table, { ${spec.on.length > 0 ? `on: ${list(spec.on)}, ` : ""}device })`;
    case "group": {
      const aggregates = spec.aggregates.map((each) => `    ${keyOf(each.name)}: ${aggregateOf(each)},\n`);
      return `groupBy(table, {\n  by: ${list(spec.by)},\n  aggregate: {\n${aggregates.join("")}  },\n  device,\n})`;
    }
  }
}

const aggregateOf = ({ fn, column }: AggregateSpec) => `${fn}(${column === undefined ? "" : text(column)})`;
const text = (value: string) => JSON.stringify(value);
const list = (values: readonly string[]) => `[${values.map(text).join(", ")}]`;
/** `["__proto__"]` is a column, `__proto__` would be none. */
const keyOf = (name: string) =>
  name === "__proto__" ? `[${text(name)}]` : /^[A-Za-z_$][\w$]*$/.test(name) ? name : text(name);
