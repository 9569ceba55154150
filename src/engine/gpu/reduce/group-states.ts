/**
 * States of groups on the GPU: counts and sums (add-values.wgsl), extreme values and rows (raise.wgsl). A column's
 * states are made once, also where several reductions need them, and finished in the order of the groups' first rows.
 */
import { EngineError, LimitError } from "../../../errors.js";
import type { DeviceColumn, DeviceValues, Words } from "../../device-columns.js";
import type { NumberColumn, Reduction } from "../../reductions.js";
import type { ResultColumn, ResultColumns } from "../groups/result-columns.js";
import type { RowParams } from "../groups/row-kernels.js";
import { checkBinding, type RowRun } from "../groups/row-run.js";
import type { Range } from "../runtime.js";
import { dataOf, paramsOf } from "./column-params.js";
import { orderGroups } from "./group-order.js";
import { raiseRows, zeroed } from "./raise-rows.js";
import {
  addValuesKernels,
  type FinishKernel,
  finishCountsKernel,
  finishDoublesKernel,
  finishMeansKernel,
  finishRowsKernel,
  finishSumsKernel,
  finishValidityKernel,
} from "./reduce-kernels.js";
import { addSlotBytes, cacheShape, type NumberedGroups, type RowsByGroup } from "./rows-by-group.js";
import { constantsOf, type PendingSummand, type Summand, type Summands } from "./summands.js";

/** States in memory of the call, and what kernels that read them are told and compiled with. */
interface States {
  readonly range: Range;
  readonly params: RowParams;
  readonly constants?: ReturnType<typeof constantsOf>;
}

/** Those of sums, of values of so many bits. */
interface SumStates extends States {
  readonly bits: number;
}

type SumOf<K extends "sum" | "mean"> = Extract<Reduction, { kind: K }>;

/** Words of a state that is a count. */
const COUNT_WORDS = 1;
const FLIP = 0xffffffff;
/** Numbers of fewer bits have no more digits than decimals of so many words: 38, and 76. */
const DECIMAL_BITS: { readonly [words: number]: number } = { 4: 126, 8: 252 };

export class GroupStates {
  readonly #counts = new Map<Words | null, States>();
  readonly #sums = new Map<DeviceValues, SumStates>();
  #lastRows: ResultColumn | undefined;
  #hasLimits = false;

  private constructor(
    private readonly run: RowRun,
    private readonly numbered: NumberedGroups | RowsByGroup,
    private readonly summands: Summands,
    private readonly results: ResultColumns,
    private readonly rowNumbers: ResultColumns,
    private readonly order: Range,
    /** The first row of each group, ascending. */
    readonly firsts: ResultColumn,
  ) {}

  /**
   * Orders the groups.
   * @param results take what columns are made of
   * @param rowNumbers take rows to gather by
   */
  static async of(
    run: RowRun,
    numbered: NumberedGroups | RowsByGroup,
    summands: Summands,
    results: ResultColumns,
    rowNumbers: ResultColumns,
  ): Promise<GroupStates> {
    const { groups, known } = numbered;
    const order = await run.range(groups * 4);
    const firsts = await rowNumbers.add(groups);
    const states = new GroupStates(run, numbered, summands, results, rowNumbers, order, firsts);
    if (known) states.#counts.set(null, { range: known.counts, params: { stride: known.countStride } });
    if (known?.sums) {
      const { of, range } = known.sums;
      states.#keepSums(of, range);
      const { validity } = of.column;
      if (validity) states.#counts.set(validity, { range, params: { stride: of.stride } });
    }
    const range = known?.firsts ?? (await states.#raised({})).range;
    await orderGroups(run, { ...numbered, states: range }, { order, firsts });
    return states;
  }

  /** Values that are not null; rows without a column. */
  async counts(column: DeviceColumn | null): Promise<DeviceColumn> {
    const states = await this.#countsOf(column?.validity ?? null);
    return fixed(8, await this.#finished(finishCountsKernel, states, 2), null);
  }

  async sums(reduction: SumOf<"sum">): Promise<DeviceColumn> {
    const { column, form, isDecimal = false } = reduction;
    const states = await this.#sumsOf(reduction);
    if (form === "float") {
      return this.#ofValues(column, states, await this.#finished(finishDoublesKernel, states, 2), 8);
    }
    const { words } = paramsOf(column, form);
    const size = isDecimal ? Math.max(4, words) : 2 * words;
    const isLimited = isDecimal && states.bits + Math.log2(this.numbered.rows) >= DECIMAL_BITS[size];
    const params = { ...states.params, size, isLimited: Number(isLimited) };
    this.#hasLimits ||= isLimited;
    return this.#ofValues(
      column,
      states,
      await this.#finished(finishSumsKernel, { ...states, params }, size),
      size * 4,
    );
  }

  async means({ column, form, unit = 1 }: SumOf<"mean">): Promise<DeviceColumn> {
    const states = await this.#sumsOf({ column, form });
    const { groups } = this.numbered;
    const sums = await this.run.range(groups * 8);
    await this.#finish(finishDoublesKernel, states, sums, groups);
    const [unitLow, unitHigh] = new Uint32Array(Float64Array.of(unit).buffer);
    const { range, params } = states;
    const counts = { range, params: { stride: params.stride, unitLow, unitHigh } };
    const means = await this.#finished(finishMeansKernel, counts, 2, sums);
    return this.#ofValues(column, states, means, 8);
  }

  /** Waits, where there are sums of decimals. @throws LimitError when one has more digits than its type */
  async checkLimits(): Promise<void> {
    if (!this.#hasLimits) return;
    await this.run.submitAndWait("check sums", () => {});
    if (this.run.counters.sumsLeft === 0) return;
    throw new LimitError("decimal digits", Number.NaN, Number.NaN, "The host tells of which sum.");
  }

  async lastRows(): Promise<ResultColumn> {
    this.#lastRows ??= await this.#foundRows(await this.#raised({ latest: 1 }));
    return this.#lastRows;
  }

  /** The first row of each group's least or greatest value; NO_ROW for a group without values. */
  async extremeRows({ column, form }: NumberColumn, least: boolean): Promise<ResultColumn> {
    return this.#foundRows(await this.#raised({ ...paramsOf(column, form), flip: least ? FLIP : 0 }, column));
  }

  async #countsOf(validity: Words | null): Promise<States> {
    const known = this.#counts.get(validity);
    if (known) return known;
    const params = { stride: COUNT_WORDS, nullable: Number(validity !== null) };
    const states = await this.#added(params, { values: null, validity });
    this.#counts.set(validity, states);
    return states;
  }

  async #sumsOf({ column }: NumberColumn): Promise<SumStates> {
    const known = this.#sums.get(column.values as DeviceValues);
    if (known) return known;
    const summand = (this.summands.get(column.values) as PendingSummand).told();
    const { range } = await this.#added(summand.params, column, summand);
    return this.#keepSums(summand, range);
  }

  #keepSums(summand: Summand, range: Range): SumStates {
    const { column, params } = summand;
    const states = { range, params, constants: constantsOf(summand), bits: summand.bits };
    this.#sums.set(column.values as DeviceValues, states);
    return states;
  }

  /** @throws EngineError where only the states that were known are */
  get #rowsByGroup(): RowsByGroup {
    if ("by" in this.numbered) return this.numbered;
    throw new EngineError("Groups that are summed up by parts have no other states.");
  }

  /** @param summand none where values are counted */
  async #added(params: RowParams, column: DeviceColumn, summand: Summand | null = null): Promise<States> {
    const numbered = this.#rowsByGroup;
    const { rows, numbers, by } = numbered;
    const range = await zeroed(this.run, (params.stride as number) * numbers);
    const shape = cacheShape(this.run.host.gpu, addSlotBytes(summand?.words ?? 0, false), numbered);
    const all = { ...shape.constants, ...constantsOf(summand), SUMMED: summand !== null, FIRSTS: false };
    const bindings = { ...numbered.bindings, states: range, ...(await this.#bound(column)) };
    const told = { ...numbered.params, ...shape.params, ...params };
    const options = { items: shape.items, dispatched: true };
    await this.run.over(addValuesKernels[by], all, rows, bindings, told, options);
    return { range, params };
  }

  /** Rows, found word by word of a column's values, and then by their numbers. */
  async #raised(params: RowParams, column?: DeviceColumn): Promise<States> {
    const inputs = column ? await this.#bound(column) : {};
    const range = await raiseRows(this.run, this.#rowsByGroup, params, inputs);
    return { range, params: { ...params, base: (params.words ?? 0) * this.numbered.numbers } };
  }

  async #bound(column: DeviceColumn) {
    const { values, validity } = column;
    return {
      data: values === null ? undefined : await this.run.bind(dataOf(column)),
      validity: validity === null ? undefined : await this.run.bind(validity),
    };
  }

  async #foundRows({ range, params }: States): Promise<ResultColumn> {
    const { groups } = this.numbered;
    const rows = await this.rowNumbers.add(groups);
    await this.#finish(finishRowsKernel, { range, params }, rows.range, groups);
    return rows;
  }

  /** A result of `words` words a group. @param sums what means are made of */
  async #finished(kernel: FinishKernel, states: States, words: number, sums?: Range): Promise<ResultColumn> {
    const { groups } = this.numbered;
    checkBinding(this.run.host.gpu, words * groups * 4);
    const finished = await this.results.add(words * groups);
    await this.#finish(kernel, states, finished.range, groups, sums);
    return finished;
  }

  async #finish(
    kernel: FinishKernel,
    { range, params, constants = constantsOf(null) }: States,
    finished: Range,
    count: number,
    sums?: Range,
  ): Promise<void> {
    const { order, run } = this;
    const bindings = { order, states: range, finished, control: run.control, sums };
    const told = { ...params, groups: this.numbered.groups };
    await run.over(kernel, constants, count, bindings, told, { dispatched: true });
  }

  /** A column of values, null where a group has none. */
  async #ofValues(
    column: DeviceColumn,
    states: States,
    values: ResultColumn,
    width: number,
  ): Promise<DeviceColumn> {
    if (column.validity === null) return fixed(width, values, null);
    const words = Math.ceil(this.numbered.groups / 32);
    const bits = await this.results.add(words);
    await this.#finish(finishValidityKernel, states, bits.range, words);
    return fixed(width, values, bits);
  }
}

function fixed(width: number, { array }: ResultColumn, validity: ResultColumn | null): DeviceColumn {
  return { values: { kind: "fixed", width, data: array }, validity: validity?.array ?? null };
}
