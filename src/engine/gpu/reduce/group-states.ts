/**
 * States of groups on the GPU: counts and sums (add-values.wgsl), extreme values and rows (raise.wgsl). A column's
 * states are made once, also where several reductions need them, and finished in the order of the groups' first rows.
 */

import { EngineError } from "../../../errors.js";
import type { DeviceColumn, DeviceValues, Words } from "../../device-columns.js";
import type { NumberColumn } from "../../reductions.js";
import type { ResultColumn, ResultColumns } from "../groups/result-columns.js";
import type { RowParams } from "../groups/row-kernels.js";
import { checkBinding, type RowRun } from "../groups/row-run.js";
import type { Range } from "../runtime.js";
import { orderGroups } from "./group-order.js";
import { raiseRows, zeroed } from "./raise-rows.js";
import {
  addValuesKernels,
  type FinishKernel,
  finishCountsKernel,
  finishMeansKernel,
  finishRowsKernel,
  finishSumsKernel,
  finishValidityKernel,
} from "./reduce-kernels.js";
import { cacheShape, type NumberedGroups, type RowsByGroup, SLOT_BYTES } from "./rows-by-group.js";

/** States in memory of the call, and the parameters by which kernels read them. */
interface States {
  readonly range: Range;
  readonly params: RowParams;
}

/** Words of a state: a count; a count and a sum. */
const COUNT_WORDS = 1;
const SUM_WORDS = 4;
const FORMS = { unsigned: 0, signed: 1, float: 2 } as const;
/** The upper words of infinities, by bits of a float; of halves moved to the upper end. */
const INFINITIES: { readonly [bits: number]: number } = { 16: 0x7c000000, 32: 0x7f800000, 64: 0x7ff00000 };
const FLIP = 0xffffffff;

/** The states of one call. */
export class GroupStates {
  readonly #counts = new Map<Words | null, States>();
  readonly #sums = new Map<DeviceValues, States>();
  #lastRows: ResultColumn | undefined;

  private constructor(
    private readonly run: RowRun,
    private readonly numbered: NumberedGroups | RowsByGroup,
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
    results: ResultColumns,
    rowNumbers: ResultColumns,
  ): Promise<GroupStates> {
    const { groups, known } = numbered;
    const order = await run.range(groups * 4);
    const firsts = await rowNumbers.add(groups);
    const states = new GroupStates(run, numbered, results, rowNumbers, order, firsts);
    if (known) states.#counts.set(null, { range: known.counts, params: { stride: COUNT_WORDS } });
    if (known?.sums) states.#keepSums(known.sums.of, known.sums.range);
    const range = known?.firsts ?? (await states.#raised({})).range;
    await orderGroups(run, { ...numbered, states: range }, { order, firsts });
    return states;
  }

  /** Values that are not null; rows without a column. */
  async counts(column: DeviceColumn | null): Promise<DeviceColumn> {
    const states = await this.#countsOf(column?.validity ?? null);
    return fixed(8, await this.#finished(finishCountsKernel, states, 2), null);
  }

  async sums(numbers: NumberColumn): Promise<DeviceColumn> {
    const states = await this.#sumsOf(numbers);
    const words = 2 * (states.params.words ?? 0);
    return this.#ofValues(numbers, states, await this.#finished(finishSumsKernel, states, words), words * 4);
  }

  async means(numbers: NumberColumn): Promise<DeviceColumn> {
    const states = await this.#sumsOf(numbers);
    return this.#ofValues(numbers, states, await this.#finished(finishMeansKernel, states, 2), 8);
  }

  /** The last row of each group. */
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
    const states = await this.#added(params, null, validity);
    this.#counts.set(validity, states);
    return states;
  }

  async #sumsOf({ column, form }: NumberColumn): Promise<States> {
    const known = this.#sums.get(column.values as DeviceValues);
    if (known) return known;
    const { range } = await this.#added(sumParams({ column, form }), dataOf(column), column.validity);
    return this.#keepSums({ column, form }, range);
  }

  #keepSums(of: NumberColumn, range: Range): States {
    const states = { range, params: sumParams(of) };
    this.#sums.set(of.column.values as DeviceValues, states);
    return states;
  }

  /** @throws EngineError where only the states that were known are */
  get #rowsByGroup(): RowsByGroup {
    if ("by" in this.numbered) return this.numbered;
    throw new EngineError("Groups that are summed up by parts have no other states.");
  }

  async #added(params: RowParams, data: Words | null, validity: Words | null): Promise<States> {
    const numbered = this.#rowsByGroup;
    const { rows, numbers, by } = numbered;
    const range = await zeroed(this.run, (params.stride as number) * numbers);
    const shape = cacheShape(this.run.host.gpu, SLOT_BYTES.addValues, numbered);
    const add = await this.run.step(addValuesKernels[by], shape.constants, shape.items);
    const bindings = { ...numbered.bindings, states: range, ...(await this.#bound(data, validity)) };
    const all = { ...numbered.params, ...shape.params, ...params };
    await this.run.dispatch("add values", rows, (recorder, chunk) =>
      add(recorder, bindings, { ...all, ...chunk }),
    );
    return { range, params };
  }

  /** Rows, found word by word of a column's values, and then by their numbers. */
  async #raised(params: RowParams, column?: DeviceColumn): Promise<States> {
    const inputs = column ? await this.#bound(dataOf(column), column.validity) : {};
    const range = await raiseRows(this.run, this.#rowsByGroup, params, inputs);
    return { range, params: { ...params, base: (params.words ?? 0) * this.numbered.numbers } };
  }

  async #bound(data: Words | null, validity: Words | null) {
    return {
      data: data === null ? undefined : await this.run.bind(data),
      validity: validity === null ? undefined : await this.run.bind(validity),
    };
  }

  async #foundRows({ range, params }: States): Promise<ResultColumn> {
    const { groups } = this.numbered;
    const rows = await this.rowNumbers.add(groups);
    await this.#finish(finishRowsKernel, { range, params }, rows, groups);
    return rows;
  }

  /** A result of `words` words a group. */
  async #finished(kernel: FinishKernel, states: States, words: number): Promise<ResultColumn> {
    const { groups } = this.numbered;
    checkBinding(this.run.host.gpu, words * groups * 4);
    const finished = await this.results.add(words * groups);
    await this.#finish(kernel, states, finished, groups);
    return finished;
  }

  async #finish(
    kernel: FinishKernel,
    { range, params }: States,
    { range: finished }: ResultColumn,
    count: number,
  ): Promise<void> {
    const { groups } = this.numbered;
    const finish = await this.run.step(kernel, {});
    const bindings = { order: this.order, states: range, finished };
    await this.run.dispatch(kernel.label, count, (recorder, chunk) =>
      finish(recorder, bindings, { ...params, groups, ...chunk }),
    );
  }

  /** A column of values, null where a group has none. */
  async #ofValues(
    { column }: NumberColumn,
    states: States,
    values: ResultColumn,
    width: number,
  ): Promise<DeviceColumn> {
    if (column.validity === null) return fixed(width, values, null);
    const words = Math.ceil(this.numbered.groups / 32);
    const bits = await this.results.add(words);
    await this.#finish(finishValidityKernel, states, bits, words);
    return fixed(width, values, bits);
  }
}

const sumParams = ({ column, form }: NumberColumn): RowParams => ({
  ...paramsOf(column, form),
  stride: SUM_WORDS,
});

function fixed(width: number, { array }: ResultColumn, validity: ResultColumn | null): DeviceColumn {
  return { values: { kind: "fixed", width, data: array }, validity: validity?.array ?? null };
}

/** Of a column of numbers. */
export function dataOf({ values }: DeviceColumn): Words {
  return (values as Exclude<DeviceValues, { kind: "strings" }>).data;
}

/** How kernels read a column of numbers. */
export function paramsOf(column: DeviceColumn, form: NumberColumn["form"]): RowParams {
  const values = column.values as Exclude<DeviceValues, { kind: "strings" }>;
  const bits = values.kind === "bits" ? 1 : values.width * 8;
  return {
    bits,
    words: Math.ceil(bits / 32),
    form: FORMS[form],
    infinity: form === "float" ? INFINITIES[bits] : 0,
    nullable: Number(column.validity !== null),
  };
}
