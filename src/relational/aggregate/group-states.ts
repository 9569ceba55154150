/**
 * The groups of one table or of several, as far as they were read: their keys, and for every aggregated column the
 * states that its aggregates need. Groups are in the order of their first rows.
 */
import { field } from "@uwdata/flechette";
import type { BatchClass } from "../../arrow/chunk.js";
import { columnIndex, type SourceColumn, type SourceTable } from "../../arrow/columns.js";
import { gather } from "../../arrow/gather.js";
import { countsUp, type OutputColumn, plainColumn } from "../../arrow/materialise.js";
import { checkSameType } from "../../arrow/same-types.js";
import { concatenateColumns, ownColumn, sourceColumn } from "../../arrow/source-columns.js";
import type { ColumnSums } from "../../engine/group-sums.js";
import { aggregate } from "../../host/aggregate.js";
import type { GroupTask } from "../../host/group-tasks.js";
import { sumsOfLanes } from "../../host/lanes.js";
import type { HostPool } from "../../host/pool.js";
import type { NamedAggregate } from "../aggregates.js";
import { encodeOwnKeys } from "../keys/encode-keys.js";
import { aggregateChunk, checkAggregated, countChunk } from "./chunks.js";
import { GroupedValues } from "./grouped-values.js";
import { numbersOf } from "./numbers.js";
import { placeValues } from "./quantiles.js";
import {
  asLanes,
  extremesFrom,
  extremeTask,
  type Grouper,
  type Regrouping,
  STATE_KINDS,
  type StateName,
  type States,
} from "./states.js";
import { MadeSums, type PlannedColumn, type SumPlan } from "./sum-plan.js";

const STATE_NAMES = Object.keys(STATE_KINDS) as StateName[];
const EXTREMES = ["least", "greatest"] as const;
/** States that are columns of one value a group. */
export const COLUMN_STATES = ["least", "greatest", "first", "last"] as const;

/** What of a table a group-by looks at. */
export interface GroupedSource {
  readonly keys: readonly SourceColumn[];
  /** The aggregated columns by name. */
  readonly columns: ReadonlyMap<string, SourceColumn>;
}

/** @throws ValidationError for columns that there are not, and of types that an aggregate does not take */
export function openSource(
  table: SourceTable,
  by: readonly string[],
  aggregates: readonly NamedAggregate[],
): GroupedSource {
  const keys = by.map((name) => table.column(columnIndex(table, name, "")));
  const columns = new Map<string, SourceColumn>();
  for (const { aggregate } of aggregates) {
    if (aggregate.column === undefined) continue;
    const column = table.column(columnIndex(table, aggregate.column, ""));
    checkAggregated(aggregate.name, column.field);
    columns.set(aggregate.column, column);
  }
  return { keys, columns };
}

/** A column's states by name. */
export type ColumnStates = { -readonly [K in StateName]?: States[K] };

/** What is known of an aggregated column besides its states. */
interface ColumnKind {
  readonly field: SourceColumn["field"];
  readonly batchClass: BatchClass | null;
}

export class GroupStates {
  private constructor(
    readonly groups: number,
    readonly keys: readonly SourceColumn[],
    /** Where the keys of each group are in the key columns. */
    readonly keyRows: Uint32Array,
    /** Rows of each group. */
    readonly rowCounts: Float64Array,
    readonly columns: ReadonlyMap<string, ColumnKind & { readonly states: ColumnStates }>,
  ) {}

  /**
   * The states of one table.
   * @param made its groups, as far as the plan asks for them
   * @param pause called between columns; may throw to stop
   * @param host whose threads count, add up and compare; null: the calling one
   */
  static async of(
    { keys, columns }: GroupedSource,
    plan: SumPlan,
    made: MadeGroups,
    group: Grouper,
    pause: () => Promise<void>,
    host: HostPool | null,
  ): Promise<GroupStates> {
    const { firsts } = made;
    const groups = firsts.length;
    const work = new StateWork(plan, made, groups);
    const sums = await work.run(host, pause);
    const states = new Map<string, ColumnKind & { states: ColumnStates }>();
    for (const [name, column] of columns) {
      const own = await work.statesOf(name, sums, group, pause);
      const { batchClass } = column.contiguous();
      states.set(name, { field: column.field, batchClass, states: own });
    }
    return new GroupStates(groups, keys, firsts, sums.counts(0), states);
  }

  /** What another thread has made. @param keys with one value a group */
  static received(
    keys: readonly SourceColumn[],
    rowCounts: Float64Array,
    columns: GroupStates["columns"],
  ): GroupStates {
    return new GroupStates(rowCounts.length, keys, numbersUpTo(rowCounts.length), rowCounts, columns);
  }

  /**
   * The groups of several tables, in the order of the tables. @throws ValidationError when their columns have other
   * types
   */
  static async merge(
    all: readonly GroupStates[],
    group: Grouper,
    pause: () => Promise<void>,
  ): Promise<GroupStates> {
    const [first, ...others] = all;
    for (const other of others) first.#checkSameTypes(other);
    const keys = first.keys.map((_, k) => concatenateColumns(all.map((each) => each.#ownKey(k))));
    const parts = all.map(({ groups }) => groups);
    const rows = parts.reduce((sum, groups) => sum + groups, 0);
    const { groupOf, firsts } = await group(encodeOwnKeys(keys, rows));
    const to: Regrouping = { groupOf, groups: firsts.length, parts };
    const counts = all.map(({ rowCounts }) => rowCounts);
    const merged = new Map<string, ColumnKind & { states: ColumnStates }>();
    for (const [name, { states, ...kind }] of first.columns) {
      const made: ColumnStates = {};
      for (const state of Object.keys(states) as StateName[]) {
        const of = all.map((each) => each.columns.get(name)?.states[state]);
        await mergeState(made, state, of as never, to, group);
        await pause();
      }
      merged.set(name, { ...kind, states: made });
    }
    const rowCounts = (await STATE_KINDS.counts.merge(counts, to, group)) as Float64Array;
    return new GroupStates(firsts.length, keys, firsts, rowCounts, merged).own();
  }

  /**
   * The same in memory of its own: nothing of the table is held on to.
   * @param kinds states for which that goes, besides the keys
   */
  own(kinds: readonly StateName[] = STATE_NAMES): GroupStates {
    const columns = new Map<string, ColumnKind & { states: ColumnStates }>();
    for (const [name, { states, ...kind }] of this.columns) {
      const made = { ...states };
      for (const state of kinds) if (state in made) ownState(made, state, states[state] as never);
      columns.set(name, { ...kind, states: made });
    }
    const keys = this.keys.map((_, k) => this.#ownKey(k));
    return new GroupStates(this.groups, keys, numbersUpTo(this.groups), this.rowCounts, columns);
  }

  /** The same with other columns in place of the keys, and of states that are columns of one value a group. */
  withColumns(made: (column: SourceColumn) => SourceColumn): GroupStates {
    const keys = this.keys.map(made);
    const columns = new Map<string, ColumnKind & { readonly states: ColumnStates }>();
    for (const [name, { states, ...kind }] of this.columns) {
      const own = { ...states };
      for (const state of COLUMN_STATES) if (state in own) own[state] = made(own[state] as SourceColumn);
      columns.set(name, { ...kind, states: own });
    }
    return new GroupStates(this.groups, keys, this.keyRows, this.rowCounts, columns);
  }

  /** Some of the groups in memory of their own. `groups`: their numbers. */
  async select(groups: Uint32Array, group: Grouper, pause: () => Promise<void>): Promise<GroupStates> {
    // the others get the number of the extra group, which states leave out
    const groupOf = new Uint32Array(this.groups).fill(groups.length);
    for (let i = 0; i < groups.length; i++) groupOf[groups[i]] = i;
    const to: Regrouping = { groupOf, groups: groups.length, parts: [this.groups] };
    const columns = new Map<string, ColumnKind & { states: ColumnStates }>();
    for (const [name, { states, ...kind }] of this.columns) {
      const made: ColumnStates = {};
      for (const state of Object.keys(states) as StateName[]) {
        await mergeState(made, state, [states[state]] as never, to, group);
        await pause();
      }
      columns.set(name, { ...kind, states: made });
    }
    const rowCounts =
      groups.length === 0 ? new Float64Array(0) : Float64Array.from(groups, (g) => this.rowCounts[g]);
    const keyRows = groups.map((g) => this.keyRows[g]);
    return new GroupStates(groups.length, this.keys, keyRows, rowCounts, columns).own();
  }

  /** The columns of the answer: keys as rows `keyRows` of the left, aggregates as they are, of the right. */
  outputs(aggregates: readonly NamedAggregate[]): OutputColumn[] {
    const known = new Map<string, ReturnType<typeof placeValues>>();
    const made = aggregates.map(({ name, aggregate }) => {
      const column = aggregate.column === undefined ? undefined : this.columns.get(aggregate.column);
      if (column === undefined) return namedOutput(name, countChunk(this.rowCounts));
      const key = column.field.name;
      const placed = () => {
        const values = known.get(key) ?? placedValues(column.states as States, this.groups);
        known.set(key, values);
        return values;
      };
      const { groups } = this;
      const states = column.states as States;
      return namedOutput(name, aggregateChunk(aggregate, { ...column, states, groups, placed }));
    });
    return [...this.keys.map((column) => plainColumn("left", column)), ...made];
  }

  /** A key column with one value a group. */
  #ownKey(k: number): SourceColumn {
    const { field, column } = this.keys[k];
    if (column.length === this.groups && countsUp(this.keyRows)) return ownColumn(this.keys[k]);
    return ownColumn(sourceColumn(field, gather(this.keys[k].contiguous(), this.keyRows)));
  }

  #checkSameTypes(other: GroupStates): void {
    const fields = ({ keys, columns }: GroupStates) => [
      ...keys.map((key) => key.field),
      ...Array.from(columns.values(), (column) => column.field),
    ];
    const theirs = fields(other);
    for (const [i, { type }] of fields(this).entries()) checkSameType(theirs[i], type, "");
  }
}

function numbersUpTo(count: number): Uint32Array {
  const numbers = new Uint32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = i;
  return numbers;
}

/** Groups that an engine has made of a table's rows. */
export interface MadeGroups {
  readonly firsts: Uint32Array;
  /** Per row the number of its group; null where the plan needs none. */
  readonly groupOf: Uint32Array | null;
  /** What the plan adds up; undefined where the host is to do it. */
  readonly sums?: readonly ColumnSums[];
}

/** Makes the states of columns: counts, sums and extremes of all of them together. */
class StateWork {
  readonly #extremes: { readonly name: string; readonly kind: "least" | "greatest" }[] = [];
  readonly #values = new Map<string, GroupedValues>();
  readonly #states = new Map<string, ColumnStates>();

  constructor(
    readonly plan: SumPlan,
    readonly made: MadeGroups,
    readonly groups: number,
  ) {
    for (const [name, { values, kinds, extremes }] of plan.columns) {
      this.#states.set(name, {});
      if (made.groupOf !== null) this.#values.set(name, new GroupedValues(values, made.groupOf, groups));
      for (const kind of EXTREMES)
        if (kinds.has(kind) && !extremes.has(kind)) this.#extremes.push({ name, kind });
    }
  }

  async run(host: HostPool | null, pause: () => Promise<void>): Promise<MadeSums> {
    const { groups, plan } = this;
    const { groupOf, sums } = this.made;
    const summed = sums === undefined ? plan.summed.map(asLanes) : [];
    const tasks = summed.map(
      (column): GroupTask => ({ groupOf: groupOf as Uint32Array, groups, values: { kind: "sums", column } }),
    );
    for (const { name, kind } of this.#extremes) {
      tasks.push(extremeTask(this.#valuesOf(name), kind === "least" ? -1 : 1));
      await pause();
    }
    const done = tasks.length > 0 ? await aggregate(host, tasks, pause) : [];
    const made = new MadeSums(sums ?? sumsOfLanes(summed, done.slice(0, summed.length).flat()), groups);
    for (const [name, { counts }] of plan.columns) {
      const values = this.#values.get(name);
      // extremes ask for counts
      if (values && counts !== undefined) values.counts = made.counts(counts);
    }
    for (const [i, { name, kind }] of this.#extremes.entries()) {
      const states = this.#states.get(name) as ColumnStates;
      states[kind] = extremesFrom(this.#valuesOf(name), done[summed.length + i]);
    }
    return made;
  }

  async statesOf(
    name: string,
    made: MadeSums,
    group: Grouper,
    pause: () => Promise<void>,
  ): Promise<ColumnStates> {
    const { kinds, counts, sums, extremes, values } = this.plan.columns.get(name) as PlannedColumn;
    const states = this.#states.get(name) as ColumnStates;
    for (const [kind, place] of extremes) {
      const of = { column: values.column, counts: made.counts(counts as number), groups: this.groups };
      states[kind as "least"] = extremesFrom(of, [made.extremes(place)]);
    }
    if (kinds.has("counts") && counts !== undefined) states.counts = made.counts(counts);
    if (sums !== undefined) states.sums = made.sums(sums);
    const state = async <K extends StateName>(kind: K): Promise<States[K]> => {
      if (states[kind] === undefined) {
        const grouped = this.#valuesOf(name);
        states[kind] = (await STATE_KINDS[kind].of({ values: grouped, group, state })) as ColumnStates[K];
      }
      return states[kind] as States[K];
    };
    for (const kind of kinds) {
      await state(kind);
      await pause();
    }
    return states;
  }

  #valuesOf(name: string): GroupedValues {
    return this.#values.get(name) as GroupedValues;
  }
}

async function mergeState<K extends StateName>(
  into: ColumnStates,
  name: K,
  states: readonly States[K][],
  to: Regrouping,
  group: Grouper,
): Promise<void> {
  into[name] = (await STATE_KINDS[name].merge(states, to, group)) as ColumnStates[K];
}

function ownState<K extends StateName>(into: ColumnStates, name: K, state: States[K]): void {
  into[name] = (STATE_KINDS[name].own?.(state) ?? state) as ColumnStates[K];
}

function placedValues({ values: { column, rowGroups } }: States, groups: number) {
  const values = new GroupedValues(column, rowGroups, groups);
  return placeValues(numbersOf(values), values.groupOf, groups);
}

function namedOutput(name: string, chunk: Parameters<typeof sourceColumn>[1]): OutputColumn {
  return plainColumn("right", sourceColumn(field(name, chunk.type), chunk));
}
