/**
 * Adding a batch to lists. Elements are counted by list in `added` (tally.wgsl), each list gets room for its own
 * (allocate-pieces.wgsl), and the values are put there (put.wgsl). All memory is there before the first list is
 * changed, and from then on nobody is asked whether to stop: so a call that fails has changed nothing.
 */
import { DeviceArray } from "../../device-array.js";
import type { CallOptions, ColumnInput } from "../../engine.js";
import type { BasicType, ScalarType } from "../../scalars.js";
import type { Column } from "../batch/columns.js";
import type { Range } from "../runtime.js";
import { allocatePieces, initLists, put, resetTallies, TALLY_TILE, tally } from "./list-kernels.js";
import { copied, type ListRun, NO_COLUMN, runLists } from "./list-run.js";
import type { ListState } from "./list-state.js";

/** A column in the GPU's memory as a whole, and what frees it. */
async function onDevice<T extends ScalarType>(
  { host }: ListRun,
  type: T,
  input: ColumnInput<T>,
): Promise<{ column: DeviceArray<T>; free(): void }> {
  if (input instanceof DeviceArray) return { column: input, free() {} };
  const column = await copied(host, type, input);
  return { column, free: () => column.destroy() };
}

/** Makes elements the only entries of lists: ValueLists.begin. */
export async function beginLists(
  state: ListState,
  numbers: DeviceArray<"u32">,
  firstNumber: number,
  values: ColumnInput<BasicType> | null,
  call: CallOptions,
): Promise<void> {
  const { head, valueWords, spec } = state;
  await runLists(state.host, call, async (run) => {
    const where = call.where && (await onDevice(run, "u8", call.where));
    const given = values && spec.value && (await onDevice(run, spec.value, values));
    try {
      const write = await run.step(initLists, {
        HEAD: head,
        MASKED: where !== undefined,
        VALUE_WORDS: valueWords,
      });
      const [heads, room] = [state.bind("heads"), state.bind("room")];
      await run.eachChunk("init lists", numbers.length, {}, async (chunk, scratch) => {
        const at = await scratch.input("u32", numbers, chunk);
        const mask = where ? await scratch.input("u8", where.column, chunk) : NO_COLUMN;
        const column = given && spec.value ? await scratch.input(spec.value, given.column, chunk) : NO_COLUMN;
        await run.submit("init lists", (recorder) =>
          write(
            recorder,
            { numbers: at.range, mask: mask.range, values: column.range, heads, room },
            {
              count: chunk.count,
              numbersShift: at.shift,
              maskShift: mask.shift,
              valuesShift: column.shift,
              base: state.used,
              firstNumber,
            },
          ),
        );
      });
    } finally {
      where?.free();
      if (given) given.free();
    }
  });
}

export function appendToLists(
  state: ListState,
  numbers: DeviceArray<"u32">,
  values: ColumnInput<BasicType> | null,
  call: CallOptions,
): Promise<number | null> {
  return runLists(state.host, call, async (run) => {
    if (values === null || state.spec.value === null) return count(run, state, numbers);
    const given = await onDevice(run, state.spec.value, values);
    try {
      return await new Append(run, state, numbers, given.column).run();
    } finally {
      given.free();
    }
  });
}

/** Lists without values become longer. */
async function count(run: ListRun, state: ListState, numbers: DeviceArray<"u32">): Promise<number> {
  const add = await run.step(tally, { HEAD: 1, RANKED: false, COUNTS_LISTS: true }, TALLY_TILE);
  let entries = 0;
  await run.eachChunk("count entries", numbers.length, {}, async (chunk, scratch) => {
    const at = await scratch.input("u32", numbers, chunk);
    const bindings = { numbers: at.range, tallies: state.bind("heads"), control: run.control };
    const counted = await run.counted("count entries", (recorder) =>
      add(recorder, bindings, { count: chunk.count, numbersShift: at.shift }),
    );
    entries += counted.entries;
    state.entries += counted.entries;
    state.filled += counted.filled;
  });
  return entries;
}

interface Need {
  readonly room: number;
  readonly records: number;
  readonly filled: number;
}

class Append {
  #ranks!: Range;

  constructor(
    private readonly call: ListRun,
    private readonly state: ListState,
    private readonly numbers: DeviceArray<"u32">,
    private readonly values: DeviceArray<BasicType>,
  ) {}

  async run(): Promise<number | null> {
    const { state, call } = this;
    this.#ranks = await call.range(this.numbers.length * 4);
    // compiled before anything is changed
    for (const measures of [true, false]) await call.step(allocatePieces, { HEAD: 2, MEASURES: measures });
    const { valueWords } = state;
    const [write, zero] = [
      await call.step(put, { HEAD: 2, VALUE_WORDS: valueWords }),
      await call.step(resetTallies, { HEAD: 2 }),
    ];
    const entries = await this.#tally();
    try {
      const growth = await state.growthFor(entries, (growth) => this.#allocate(growth, true));
      if (growth === null) return null;
      const { room, records, filled } = await this.#allocate(growth, false);
      const bindings = {
        heads: state.bind("heads"),
        records: state.bind("records"),
        room: state.bind("room"),
      };
      await this.#over("put values", async (chunk, at, scratch) => {
        const column = await scratch.input(this.values.type, this.values, chunk);
        const columns = {
          numbers: at.range,
          ranks: this.#ranks,
          added: state.bind("added"),
          values: column.range,
        };
        const params = { ...chunk, numbersShift: at.shift, valuesShift: column.shift };
        await call.submit("put values", (recorder) => write(recorder, { ...bindings, ...columns }, params));
      });
      state.used += room;
      state.recordsUsed += records;
      state.filled += filled;
      state.entries += entries;
      return entries;
    } finally {
      await this.#over("reset tallies", async (chunk, at) => {
        const columns = { numbers: at.range, ranks: this.#ranks, added: state.bind("added") };
        const params = { ...chunk, numbersShift: at.shift };
        await call.submit("reset tallies", (recorder) => zero(recorder, columns, params));
      });
    }
  }

  /** Ranks the elements, and counts them by list and in all. */
  async #tally(): Promise<number> {
    const { call, state } = this;
    const add = await call.step(tally, { HEAD: 2, RANKED: true, COUNTS_LISTS: false }, TALLY_TILE);
    let entries = 0;
    await this.#over("tally", async (chunk, at) => {
      const columns = {
        numbers: at.range,
        tallies: state.bind("added"),
        ranks: this.#ranks,
        control: call.control,
      };
      const params = { ...chunk, numbersShift: at.shift };
      entries += (await call.counted("tally", (recorder) => add(recorder, columns, params))).entries;
    });
    return entries;
  }

  /** What making room takes, which is made unless this only `measures`. */
  async #allocate(growth: number, measures: boolean): Promise<Need> {
    const { call, state } = this;
    const make = await call.step(allocatePieces, { HEAD: 2, MEASURES: measures });
    const need = { room: 0, records: 0, filled: 0 };
    const name = measures ? "measure" : "allocate pieces";
    await this.#over(name, async (chunk, at) => {
      const columns = { numbers: at.range, ranks: this.#ranks, control: call.control };
      const parts = {
        added: state.bind("added"),
        heads: state.bind("heads"),
        records: state.bind("records"),
      };
      const params = {
        ...chunk,
        numbersShift: at.shift,
        growth,
        base: state.used + need.room,
        recordBase: state.recordsUsed + need.records,
      };
      const counted = await call.counted(name, (recorder) =>
        make(recorder, { ...columns, ...parts }, params),
      );
      need.room += counted.room;
      need.records += counted.records;
      need.filled += counted.filled;
    });
    return need;
  }

  #over(
    name: string,
    run: (chunk: { first: number; count: number }, at: Column, scratch: ListRun["scratch"]) => Promise<void>,
  ): Promise<void> {
    return this.call.eachChunk(`lists ${name}`, this.numbers.length, {}, async (chunk, scratch) =>
      run(chunk, await scratch.input("u32", this.numbers, chunk), scratch),
    );
  }
}
