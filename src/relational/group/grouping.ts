/**
 * A group-by's work on the host. Four stages: key columns are brought to a form that the engine compares
 * (encode-keys.ts), the device's engine numbers equal rows (group-rows.ts), what aggregates need of the values is
 * computed over the numbers (aggregate/), and the answer is gathered (materialise.ts). Of several tables the groups and
 * what was computed of them are merged.
 */
import type { Table } from "@uwdata/flechette";
import { isSourceTable, readTable, type SourceTable } from "../../arrow/columns.js";
import type { TableInput } from "../../arrow/table-input.js";
import type { Device } from "../../device.js";
import { ValidationError } from "../../errors.js";
import { check, checkOneOf, describe } from "../../options.js";
import { type GroupedRows, groupRows } from "../aggregate/group-rows.js";
import { type GroupedSource, GroupStates, type MadeGroups, openSource } from "../aggregate/group-states.js";
import { SumPlan } from "../aggregate/sum-plan.js";
import { AGGREGATE_NAMES, type Aggregate, type NamedAggregate } from "../aggregates.js";
import type { GroupByOptions, GroupStage } from "../group-calls.js";
import { encodeOwnKeys } from "../keys/encode-keys.js";
import { checkNames, materialiseAnswer, RelationalCall } from "../relational-call.js";

/** Groups, and the device that found them. */
export interface Groups {
  readonly device: Device;
  readonly states: GroupStates;
}

/** What a group-by does, whether its rows come at once or in batches. */
export class Grouping {
  readonly call: RelationalCall<GroupStage>;
  readonly #options: GroupByOptions;
  readonly by: readonly string[];
  readonly aggregates: readonly NamedAggregate[];

  /** @param own names of options that the call has besides */
  constructor(name: string, options: GroupByOptions, own = "") {
    this.call = new RelationalCall(options, `by aggregate device ${own} signal onProgress onPlan onStage`);
    this.#options = options;
    this.by = checkNames(name, "by", "key column", options.by);
    this.aggregates = checkAggregates(options.aggregate, this.by);
  }

  /** Groups the rows of a table. */
  async read(table: TableInput | SourceTable): Promise<Groups> {
    this.call.throwIfAborted();
    const opened = isSourceTable(table) ? table : readTable(table, "");
    const source = openSource(opened, this.by, this.aggregates);
    return this.readSource(await this.call.begin(), source, opened.rows);
  }

  /**
   * Groups the rows of a table whose columns are on the host.
   * @param isWhole whether no other rows come
   * @param remark what its plan says besides
   */
  async readSource(
    device: Device,
    source: GroupedSource,
    rows: number,
    isWhole = false,
    remark?: string,
  ): Promise<Groups> {
    const { call } = this;
    const encoded = encodeOwnKeys(source.keys, rows);
    call.endStage("encode keys");
    const operations = await device.engine.rows();
    const plan = new SumPlan(source.columns, this.aggregates, operations.sumGroups !== undefined);
    const made = await call.onEngine(async (engineCall): Promise<MadeGroups> => {
      if (remark !== undefined) engineCall.log?.remark(remark);
      if (!operations.sumGroups) return groupRows(device, encoded, engineCall);
      const { needsNumbers, summed } = plan;
      const { columns, ...groups } = await operations.sumGroups(encoded, summed, {
        ...engineCall,
        numbers: needsNumbers,
        rounded: isWhole,
      });
      return { ...groups, sums: columns };
    });
    call.endStage("group rows");
    const states = await this.#statesOf(device, source, plan, made);
    call.endStage("aggregate");
    return { device, states };
  }

  /** What aggregates need of rows that are grouped, and whose columns are on the host. */
  async statesOf(
    device: Device,
    source: GroupedSource,
    grouped: GroupedRows,
    aggregates: readonly NamedAggregate[],
  ): Promise<GroupStates> {
    return this.#statesOf(device, source, new SumPlan(source.columns, aggregates, false), grouped);
  }

  async #statesOf(
    device: Device,
    source: GroupedSource,
    plan: SumPlan,
    made: MadeGroups,
  ): Promise<GroupStates> {
    const host = await device.host();
    return GroupStates.of(source, plan, made, this.#grouper(device), this.call.pause, host);
  }

  /** The groups of several tables. */
  async merge(device: Device, parts: readonly GroupStates[]): Promise<GroupStates> {
    if (parts.length === 1) return parts[0];
    const merged = await GroupStates.merge(parts, this.#grouper(device), this.call.pause);
    this.call.endStage("aggregate");
    return merged;
  }

  async finish({ device, states }: Groups): Promise<Table> {
    const outputs = states.outputs(this.aggregates);
    // keys are gathered from the groups' first rows, aggregates are there already
    const { groups, keyRows } = states;
    const rows = { rows: groups, left: keyRows, right: keyRows, inOrder: "right" as const };
    return materialiseAnswer(outputs, [rows], this.call, device);
  }

  /** @throws ValidationError unless both group by the same keys and compute the same */
  checkSame(other: Grouping): void {
    const [mine, theirs] = [this, other].map((each) => JSON.stringify([each.by, each.aggregates]));
    if (mine === theirs) return;
    throw new ValidationError(
      "The other GroupBy has other keys or aggregates.",
      "Make both with the same `by` and `aggregate`.",
    );
  }

  /** Some of the groups: see GroupStates.select. */
  async select(device: Device, states: GroupStates, groups: Uint32Array): Promise<GroupStates> {
    return states.select(groups, this.#grouper(device), this.call.pause);
  }

  #grouper(device: Device) {
    const { signal } = this.#options;
    return (keys: Parameters<typeof groupRows>[1], numbers?: boolean) =>
      groupRows(device, keys, { signal }, numbers);
  }
}

/** States that are added up, so that a key is grouped about log2(parts) times. */
export class StatesSum {
  /** Each has more than twice as many groups as the next. */
  parts: readonly GroupStates[] = [];

  constructor(readonly grouping: Grouping) {}

  /**
   * Puts parts behind those that are there, and merges those that are about as large as the next. After an error
   * nothing was added.
   */
  async add(added: readonly GroupStates[]): Promise<void> {
    if (added.length === 0) return;
    const parts = [...this.parts, ...added];
    let from = this.parts.length;
    let groups = added.reduce((sum, part) => sum + part.groups, 0);
    while (from > 0 && parts[from - 1].groups <= 2 * groups) groups += parts[--from].groups;
    const device = await this.grouping.call.begin();
    parts.push(await this.grouping.merge(device, parts.splice(from)));
    this.parts = parts;
  }

  /** All of them as one; there is one at least. */
  async merged(): Promise<GroupStates> {
    const states = await this.grouping.merge(await this.grouping.call.begin(), this.parts);
    this.parts = [states];
    return states;
  }
}

const EXAMPLE = 'Write aggregate: { rows: count(), total: sum("price") }.';

function checkAggregates(aggregates: unknown, by: readonly string[]): NamedAggregate[] {
  const isRecord = typeof aggregates === "object" && aggregates !== null && !Array.isArray(aggregates);
  check(isRecord, "aggregate", aggregates, EXAMPLE);
  return Object.entries(aggregates as Record<string, unknown>).map(([name, aggregate]) => {
    if (!isAggregate(aggregate)) {
      throw new ValidationError(`The aggregate "${name}" is ${describe(aggregate)}.`, EXAMPLE);
    }
    checkOneOf("aggregate", aggregate.name, AGGREGATE_NAMES);
    if (by.includes(name)) {
      throw new ValidationError(
        `The answer would have two columns "${name}": a key and an aggregate.`,
        `Give the aggregate another name, such as "${name}_${aggregate.name}".`,
      );
    }
    return { name, aggregate };
  });
}

function isAggregate(value: unknown): value is Aggregate {
  if (typeof value !== "object" || value === null || !("name" in value)) return false;
  const { name, column, at } = value as Aggregate;
  if (name === "quantile" && at === undefined) return false;
  return typeof column === "string" || (column === undefined && name === "count");
}
