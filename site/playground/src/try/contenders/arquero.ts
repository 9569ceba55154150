/** Arquero: from its tables to its tables. */
import * as aq from "arquero";
import type { AggregateFunction, AggregateSpec } from "../protocol.js";
import type { Tables } from "../worker/operate.js";
import { type Answer, type Contender, type Entrant, type JoinSpec, joinedColumns } from "./contender.js";
import { type JsColumn, jsColumns, textColumn } from "./js-columns.js";

type AqTable = ReturnType<typeof aq.table>;

const NAME = "Arquero";

export const arqueroEntrant: Entrant = {
  name: NAME,
  enter(tables, spec) {
    const left = jsColumns(tables.left);
    if (spec.kind === "join") return joinContender(tables, left, spec);
    const table = tableOf(left, "");
    const types = new Map(left.map(({ name, type }) => [name, type]));
    if (spec.kind === "distinct") {
      const on = spec.on.length > 0 ? spec.on : left.map(({ name }) => name);
      return contender(
        () => table.dedupe([...on]).reify(),
        left.map(({ name }) => ({ name, from: name, type: types.get(name) })),
      );
    }
    const rollup = Object.fromEntries(
      spec.aggregates.map((aggregate) => [aggregate.name, rollupOf(aggregate)]),
    ) as Parameters<AqTable["rollup"]>[0];
    const keepsType = (fn: AggregateFunction) => fn === "min" || fn === "max";
    return contender(
      () => table.groupby([...spec.by]).rollup(rollup),
      [
        ...spec.by.map((name) => ({ name, from: name, type: types.get(name) })),
        ...spec.aggregates.map(({ name, fn, column = "" }) => ({
          name,
          from: name,
          type: keepsType(fn) ? types.get(column) : undefined,
        })),
      ],
    );
  },
};

interface Shown {
  readonly name: string;
  /** Its name in Arquero's table; a second one where the first has no value. */
  readonly from: string;
  readonly or?: string;
  /** None for numbers. */
  readonly type: JsColumn["type"] | undefined;
}

function contender(work: () => AqTable, shown: readonly Shown[]): Contender {
  let table: AqTable | null = null;
  return {
    name: NAME,
    how: "from its table to its table, one thread",
    run() {
      table = work();
      return [];
    },
    answer(): Answer {
      const answered = table as AqTable;
      return {
        rows: answered.numRows(),
        columns: shown.map(({ name, from, or, type }) => {
          const column = answered.column(from);
          const other = or === undefined ? undefined : answered.column(or);
          const valueAt = (row: number) => column?.at(row) ?? other?.at(row) ?? null;
          if (type) return textColumn(name, type, valueAt);
          return { name, textAt: (row) => (valueAt(row) === null ? null : String(valueAt(row))) };
        }),
      };
    },
  };
}

/** Both sides' names get a prefix, so that none of them is in the other's way. */
function joinContender(tables: Tables, left: JsColumn[], spec: JoinSpec): Contender {
  const right = jsColumns(tables.right);
  const l = tableOf(left, "l ");
  const r = tableOf(right, "r ");
  const keys: [string[], string[]] = [
    spec.on.map(([name]) => `l ${name}`),
    spec.on.map(([, name]) => `r ${name}`),
  ];
  const columns = joinedColumns(tables, spec);
  const typeOf = ({ left: own, right: other }: (typeof columns)[number]) =>
    own !== undefined
      ? left.find(({ name }) => name === own)?.type
      : right.find(({ name }) => name === other)?.type;
  const shown = columns.map((column) => {
    const names = [
      ...(column.left === undefined ? [] : [`l ${column.left}`]),
      ...(column.right === undefined ? [] : [`r ${column.right}`]),
    ];
    return { name: column.name, from: names[0], or: names[1], type: typeOf(column) };
  });
  const { how } = spec;
  if (how === "semi" || how === "anti") {
    const wanted = shown.map(({ from }) => from);
    return contender(
      () => (how === "semi" ? l.semijoin(r, keys) : l.antijoin(r, keys)).select(wanted).reify(),
      shown,
    );
  }
  const values: [string[], string[]] = [
    columns.flatMap((column) => (column.left === undefined ? [] : [`l ${column.left}`])),
    columns.flatMap((column) => (column.right === undefined ? [] : [`r ${column.right}`])),
  ];
  const joins = {
    inner: () => l.join(r, keys, values),
    left: () => l.join_left(r, keys, values),
    right: () => l.join_right(r, keys, values),
    full: () => l.join_full(r, keys, values),
  };
  return contender(joins[how], shown);
}

function tableOf(columns: readonly JsColumn[], prefix: string): AqTable {
  return aq.table(
    columns.map(({ name, values }): [string, unknown[]] => [`${prefix}${name}`, values as unknown[]]),
  );
}

/** @throws Error for aggregates that Arquero has not */
function rollupOf({ fn, column }: AggregateSpec) {
  if (column === undefined) return aq.op.count();
  if (fn === "count") return aq.op.valid(column);
  const names: Partial<
    Record<AggregateFunction, "sum" | "mean" | "min" | "max" | "median" | "stdev" | "variance" | "distinct">
  > = {
    sum: "sum",
    mean: "mean",
    min: "min",
    max: "max",
    median: "median",
    std: "stdev",
    variance: "variance",
    countDistinct: "distinct",
  };
  const name = names[fn];
  if (name === undefined) throw new Error(`has no aggregate like ${fn}`);
  return aq.op[name](column);
}
