/** What competes in a comparison: something that does the same work from its own form of the tables, and shows its answer. */
import type { Table } from "@uwdata/flechette";
import { textReader } from "../../../../../src/io/values.js";
import type { Spec, Stage } from "../protocol.js";
import type { Tables } from "../worker/operate.js";

/** A column of an answer: values as canonical text, so that answers of different libraries compare. */
export interface AnswerColumn {
  readonly name: string;
  readonly textAt: (row: number) => string | null;
}

export interface Answer {
  readonly rows: number;
  readonly columns: readonly AnswerColumn[];
}

/** An answer that is an Arrow table. */
export function answerOf(table: Table): Answer {
  return {
    rows: table.numRows,
    columns: table.names.map((name, i) => ({ name: String(name), textAt: textReader(table.children[i]) })),
  };
}

export interface Contender {
  readonly name: string;
  /** What it starts from and what it ends with. */
  readonly how: string;
  /** Does the work once, and keeps the answer. @returns the stages that it can tell */
  run(): Promise<readonly Stage[]> | readonly Stage[];
  /** The latest answer. */
  answer(): Promise<Answer> | Answer;
  close?(): Promise<void> | void;
}

/** Brings the tables into a contender's form. @throws Error with a sentence when it has no such operation */
export type Entrant = {
  readonly name: string;
  enter(tables: Tables, spec: Spec, signal: AbortSignal): Promise<Contender> | Contender;
};

/** A column of a join's result, and where its values come from. */
export interface JoinedColumn {
  readonly name: string;
  /** The left's, where the row has one and it is a column of the left. */
  readonly left?: string;
  readonly right?: string;
}

export type JoinSpec = Extract<Spec, { kind: "join" }>;
export type GroupSpec = Extract<Spec, { kind: "group" }>;
export type DistinctSpec = Extract<Spec, { kind: "distinct" }>;

/** The columns that a join answers, by the library's rules (docs/join.md). */
export function joinedColumns({ left, right }: Tables, { on, how, select }: JoinSpec): JoinedColumn[] {
  const rightKeyOf = new Map(on);
  const columns: JoinedColumn[] = left.names.map((name) => {
    const key = rightKeyOf.get(name);
    if (key === undefined || (how !== "right" && how !== "full")) return { name, left: name };
    return how === "right" ? { name, right: key } : { name, left: name, right: key };
  });
  if (how !== "semi" && how !== "anti") {
    const keys = new Set(on.map(([, name]) => name));
    for (const own of right.names.filter((name) => !keys.has(name))) {
      let name = own;
      while (columns.some((column) => column.name === name)) name += "_right";
      columns.push({ name, right: own });
    }
  }
  if (!select) return columns;
  return select.flatMap((name) => columns.find((column) => column.name === name) ?? []);
}
