/** The three operations, by the library, with what they tell about their stages. */
import type { Table } from "@uwdata/flechette";
import { type Device, type Plan, ValidationError } from "warpmap";
import {
  type Aggregate,
  count,
  countDistinct,
  distinct,
  first,
  groupBy,
  type JoinOptions,
  join,
  last,
  max,
  mean,
  median,
  min,
  std,
  sum,
  variance,
} from "warpmap/relational";
import type { AggregateSpec, RunFacts, Spec, Stage } from "../protocol.js";

const FUNCTIONS = { countDistinct, sum, mean, min, max, median, std, variance, first, last };

/** What is worked on; group and distinct take the left. */
export interface Tables {
  readonly left: Table;
  readonly right: Table;
}

interface OperateOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface Run extends Pick<RunFacts, "stages" | "plan" | "ms" | "inputRows"> {
  readonly table: Table;
}

/** Whether a join matched no row of one side with one of the other. */
export async function isUnmatched(
  tables: Tables,
  spec: Spec,
  answered: Table,
  device: Device,
  signal: AbortSignal,
): Promise<boolean> {
  const { left, right } = tables;
  if (spec.kind !== "join" || left.numRows === 0 || right.numRows === 0) return false;
  switch (spec.how) {
    case "inner":
    case "semi":
      return answered.numRows === 0;
    case "anti":
      return answered.numRows === left.numRows;
    case "full":
      // a row that matches is in the result once for both sides; where rows match several, there are as many by chance
      if (answered.numRows !== left.numRows + right.numRows) return false;
      break;
    default:
      if (answered.numRows !== (spec.how === "left" ? left : right).numRows) return false;
  }
  const [[key]] = spec.on;
  const matched = await join(left, right, { on: spec.on, how: "semi", select: [key], device, signal });
  return matched.numRows === 0;
}

export async function operate(
  tables: Tables,
  spec: Spec,
  device: Device,
  options: OperateOptions,
): Promise<Run> {
  const stages: Stage[] = [];
  let plan: Plan | undefined;
  const call = {
    ...options,
    device,
    onStage: (name: string, seconds: number) => void stages.push({ name, ms: seconds * 1000 }),
    onPlan: (told: Plan) => {
      plan = told;
    },
  };
  const start = performance.now();
  const table = await answer(tables, spec, call);
  const ms = performance.now() - start;
  const { left, right } = tables;
  return {
    table,
    stages,
    ms,
    inputRows: spec.kind === "join" ? [left.numRows, right.numRows] : [left.numRows],
    plan: plan ? planFacts(plan) : null,
  };
}

type Call = Pick<JoinOptions, "device" | "signal" | "onProgress" | "onPlan"> & {
  readonly onStage: (name: string, seconds: number) => void;
};

async function answer({ left, right }: Tables, spec: Spec, call: Call): Promise<Table> {
  switch (spec.kind) {
    case "join": {
      const { on, how, select } = spec;
      try {
        return await join(left, right, { ...call, on, how, ...(select && { select }) });
      } catch (error) {
        throw inPlaceOfCast(error);
      }
    }
    case "group":
      return groupBy(left, { ...call, by: spec.by, aggregate: aggregatesOf(spec.aggregates) });
    case "distinct":
      return distinct(left, { ...call, ...(spec.on.length > 0 && { on: spec.on }) });
  }
}

/** A program casts a key column; here the reader chooses another. */
function inPlaceOfCast(error: unknown): unknown {
  if (!(error instanceof ValidationError) || !error.problem.endsWith("cannot be compared.")) return error;
  return new Error(`${error.problem} Choose two columns of like types.`, { cause: error });
}

function aggregatesOf(specs: readonly AggregateSpec[]): Record<string, Aggregate> {
  return Object.fromEntries(
    specs.map(({ name, fn, column }) => [name, fn === "count" ? count(column) : FUNCTIONS[fn](column ?? "")]),
  );
}

function planFacts({ strategy, reason, clock, phases }: Plan): NonNullable<RunFacts["plan"]> {
  return {
    strategy,
    reason,
    clock,
    phases: phases.map(({ name, milliseconds }) => ({ name, ms: milliseconds })),
  };
}
