// Columns named like members of objects go through every operator and file format as columns of other names do.
import type * as flechette from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { readTable, tableToBytes } from "../../src/io/index.js";
import * as relational from "../../src/relational/index.js";
import { useDevice } from "../conformance/helpers/device.js";

const { count, distinct, dropDuplicates, groupBy, join, median, sum, valueCounts } = relational;
const device = useDevice();
const memory = { limit: 2 ** 20 };
const right = { k: [1, 2], y: [5, 7] };

/** Runs of every operator over a table with a column of some name. */
const runs: Record<string, (name: string) => Promise<flechette.Table>> = {
  distinct: (name) => distinct(table(name), { device: device() }),
  "distinct on others": (name) => distinct(table(name), { on: ["k"], device: device() }),
  "distinct within memory": (name) => distinct(table(name), { on: ["k"], memory, device: device() }),
  dropDuplicates: (name) => dropDuplicates(table(name), { on: [name], keep: "last", device: device() }),
  "group by it": (name) => groupBy(table(name), { by: [name], aggregate: { n: count() }, device: device() }),
  "aggregate it": (name) => {
    const aggregate = { [name]: sum(name), median: median(name) };
    return groupBy(table(name), { by: ["k"], aggregate, device: device() });
  },
  "aggregate within memory": (name) =>
    groupBy(table(name), { by: ["k"], aggregate: { [name]: sum(name) }, memory, device: device() }),
  valueCounts: (name) => valueCounts(table(name), name, { as: "n", device: device() }),
  "name counts": (name) => valueCounts(table(name), "k", { as: name, device: device() }),
  "join on it": (name) => join(table(name), table(name), { on: [name], device: device() }),
  "join rows": (name) =>
    join(JSON.parse(`[{ "k": 1, "${name}": 5 }]`), right, { on: ["k"], device: device() }),
  select: (name) => join(table(name), right, { on: ["k"], select: ["y", name], device: device() }),
  where: (name) => join(table(name), right, { on: ["k"], where: whereEqual(name), device: device() }),
  "where, within memory": (name) =>
    join(table(name), right, { on: ["k"], where: whereEqual(name), memory, device: device() }),
  ...Object.fromEntries(
    (["csv", "arrow", "parquet"] as const).map((format) => [
      `${format} files`,
      async (name: string) =>
        readTable(await tableToBytes(table(name), { format }), { format, columns: [name] }),
    ]),
  ),
  "types of csv": async (name) =>
    readTable(await tableToBytes(table(name), { format: "csv" }), {
      format: "csv",
      types: { [name]: "utf8" },
    }),
};

const table = (name: string) => ({ k: [1, 2, 2], [name]: [5, 6, 7] });
const whereEqual = (name: string) => ({
  columns: [name, "y"],
  test: (pair: Readonly<Record<string, unknown>>) => pair[name] === pair.y,
});
const contents = ({ names, children }: flechette.Table, name: string) =>
  names.map((each, i) => [each.replace(name, "plain"), Array.from(children[i].toArray(), String)]);

describe.each(["__proto__", "constructor", "toString", "then"])("a column named %s", (name) => {
  it.each(Object.entries(runs))("%s", async (_, run) => {
    expect(contents(await run(name), name)).toEqual(contents(await run("plain"), "plain"));
  });
});
