/** JavaScript's own Map: what one writes by hand, from arrays of values to arrays of values. */
import type { DataType } from "@uwdata/flechette";
import type { AggregateSpec, Stage } from "../protocol.js";
import type { Tables } from "../worker/operate.js";
import {
  type Answer,
  type Contender,
  type DistinctSpec,
  type Entrant,
  type GroupSpec,
  type JoinSpec,
  joinedColumns,
} from "./contender.js";
import { type JsColumn, jsColumns, textColumn } from "./js-columns.js";
import { aggregateOf } from "./map-aggregates.js";

interface Output {
  readonly name: string;
  /** Of the values; null for numbers. */
  readonly type: DataType | null;
  readonly values: readonly unknown[];
}

export const mapEntrant: Entrant = {
  name: "JavaScript Map",
  enter(tables, spec) {
    const left = jsColumns(tables.left);
    if (spec.kind === "join") {
      const right = jsColumns(tables.right);
      return contender(() => join(tables, left, right, spec));
    }
    if (spec.kind === "group") return contender(() => group(left, tables.left.numRows, spec));
    return contender(() => distinct(left, tables.left.numRows, spec));
  },
};

function contender(work: () => { outputs: Output[]; stages: Stage[] }): Contender {
  let outputs: Output[] = [];
  return {
    name: mapEntrant.name,
    how: "from arrays of values to arrays of values, one thread",
    run() {
      const done = work();
      outputs = done.outputs;
      return done.stages;
    },
    answer: (): Answer => ({
      rows: outputs[0]?.values.length ?? 0,
      columns: outputs.map(({ name, type, values }) =>
        type === null
          ? { name, textAt: (row) => (values[row] === null ? null : String(values[row])) }
          : textColumn(name, type, (row) => values[row]),
      ),
    }),
  };
}

/** Times the parts of a piece of work. */
function stopwatch() {
  const stages: Stage[] = [];
  let last = performance.now();
  return {
    stages,
    stage(name: string) {
      const now = performance.now();
      stages.push({ name, ms: now - last });
      last = now;
    },
  };
}

type KeyAt = (row: number) => unknown;

/** A value that is equal for equal keys; null when one of them is, unless nulls count as values. */
function keysOf(columns: readonly JsColumn[], nulls: boolean): KeyAt {
  if (columns.length === 1) {
    const [{ values }] = columns;
    return (row) => values[row];
  }
  return (row) => {
    let key = "";
    for (const { values } of columns) {
      const value = values[row];
      if (value === null && !nulls) return null;
      // the length keeps ["a,b"] and ["a", "b"] apart
      const text = String(value);
      key += `${value === null ? "n" : text.length},${text}`;
    }
    return key;
  };
}

function pick(columns: readonly JsColumn[], names: readonly string[]): JsColumn[] {
  return names.map((name) => {
    const column = columns.find((other) => other.name === name);
    if (!column) throw new Error(`There is no column "${name}".`);
    return column;
  });
}

const NONE = -1;

function join(tables: Tables, left: JsColumn[], right: JsColumn[], spec: JoinSpec) {
  const { stages, stage } = stopwatch();
  const rightKey = keysOf(
    pick(
      right,
      spec.on.map(([, name]) => name),
    ),
    false,
  );
  const rowsOf = new Map<unknown, number[]>();
  for (let row = 0; row < tables.right.numRows; row++) {
    const key = rightKey(row);
    if (key === null) continue;
    const rows = rowsOf.get(key);
    if (rows) rows.push(row);
    else rowsOf.set(key, [row]);
  }
  stage("build");
  const pairs = probe(
    keysOf(
      pick(
        left,
        spec.on.map(([name]) => name),
      ),
      false,
    ),
    tables,
    rowsOf,
    spec,
  );
  stage("probe");
  const outputs = joinedColumns(tables, spec).map((column): Output => {
    const l = column.left === undefined ? null : pick(left, [column.left])[0];
    const r = column.right === undefined ? null : pick(right, [column.right])[0];
    const values = pairs.left.map((leftRow, i) => {
      if (l && leftRow !== NONE) return l.values[leftRow];
      const rightRow = pairs.right[i];
      return r && rightRow !== NONE ? r.values[rightRow] : null;
    });
    return { name: column.name, type: (l ?? r)?.type ?? null, values };
  });
  stage("materialise");
  return { outputs, stages };
}

/** The rows of a join as row numbers of both sides. */
function probe(keyAt: KeyAt, { left, right }: Tables, rowsOf: Map<unknown, number[]>, { how }: JoinSpec) {
  const pairs: { left: number[]; right: number[] } = { left: [], right: [] };
  const push = (l: number, r: number) => {
    pairs.left.push(l);
    pairs.right.push(r);
  };
  const seen = how === "right" || how === "full" ? new Uint8Array(right.numRows) : null;
  for (let row = 0; row < left.numRows; row++) {
    const rows = rowsOf.get(keyAt(row));
    if (how === "semi" || how === "anti") {
      if ((rows !== undefined) === (how === "semi")) push(row, NONE);
    } else if (rows) {
      for (const other of rows) {
        push(row, other);
        if (seen) seen[other] = 1;
      }
    } else if (how === "left" || how === "full") push(row, NONE);
  }
  if (seen) for (let row = 0; row < seen.length; row++) if (seen[row] === 0) push(NONE, row);
  return pairs;
}

function group(columns: JsColumn[], rows: number, { by, aggregates }: GroupSpec) {
  const { stages, stage } = stopwatch();
  const keys = pick(columns, by);
  const keyAt = keysOf(keys, true);
  const numbers = new Map<unknown, number>();
  const groupOf = new Uint32Array(rows);
  const firstRows: number[] = [];
  for (let row = 0; row < rows; row++) {
    const key = keyAt(row);
    let number = numbers.get(key);
    if (number === undefined) {
      number = firstRows.length;
      numbers.set(key, number);
      firstRows.push(row);
    }
    groupOf[row] = number;
  }
  stage("group rows");
  const outputs: Output[] = keys.map(({ name, type, values }) => ({
    name,
    type,
    values: firstRows.map((row) => values[row]),
  }));
  for (const spec of aggregates) outputs.push(aggregated(columns, spec, groupOf, firstRows.length));
  stage("aggregate");
  return { outputs, stages };
}

function aggregated(columns: JsColumn[], spec: AggregateSpec, groupOf: Uint32Array, groups: number): Output {
  const column = spec.column === undefined ? null : pick(columns, [spec.column])[0];
  const values = aggregateOf(spec.fn, column?.values ?? null, groupOf, groups);
  const ofColumn = ["min", "max", "first", "last"].includes(spec.fn);
  return { name: spec.name, type: ofColumn ? (column?.type ?? null) : null, values };
}

function distinct(columns: JsColumn[], rows: number, { on }: DistinctSpec) {
  const { stages, stage } = stopwatch();
  const keyAt = keysOf(on.length > 0 ? pick(columns, on) : columns, true);
  const seen = new Set<unknown>();
  const kept: number[] = [];
  for (let row = 0; row < rows; row++) {
    const key = keyAt(row);
    if (seen.has(key)) continue;
    seen.add(key);
    kept.push(row);
  }
  stage("group rows");
  const outputs = columns.map(({ name, type, values }) => ({
    name,
    type,
    values: kept.map((row) => values[row]),
  }));
  stage("materialise");
  return { outputs, stages };
}
