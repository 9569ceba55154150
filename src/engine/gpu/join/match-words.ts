/**
 * Joins on one key of one or two words whose build rows are all different: a hash table of the engine maps keys to rows, and finds the
 * partners. So they take every strategy that tables have; partitioned, neither side is read at random from the GPU's memory.
 *
 * Keys are compared as patterns of bits, as records are: the table's keys are u32 or u64 whatever the column's type.
 */
import { bitmapBytes } from "../../../bitmaps.js";
import type { DeviceArray } from "../../device-array.js";
import { type DeviceKeys, NO_ROW, type Words } from "../../device-columns.js";
import type { Input, Table } from "../../engine.js";
import { slotsFor } from "../../layout.js";
import type { JoinCall } from "../../row-operations.js";
import { gpuArray, newArray, placeOf } from "../batch/columns.js";
import type { ResultColumn, ResultColumns } from "../groups/result-columns.js";
import type { RowRun } from "../groups/row-run.js";
import { type KeyWords, oneWord } from "../groups/word-keys.js";
import { rangeOf } from "../memory/array-elements.js";
import { countUpKernel, flagsOfBitsKernel } from "./join-kernels.js";

/** Of the table of build rows. */
const MAX_LOAD = 0.5;
/** Build rows from which a table pays: fewer are matched by records in less time than a table's calls wait for each other. */
const LEAST_ROWS = 2 ** 22;

type KeyTable = Table<"u32" | "u64", "u32">;

/**
 * The partner of every probe row, or undefined where that takes another way: several or other key columns, nulls that are equal, or
 * build rows that are, or few of them.
 * @param anyPartner it does not matter which of equal build rows is the partner
 */
export async function partnersOfWords(
  run: RowRun,
  columns: ResultColumns,
  build: DeviceKeys,
  probe: DeviceKeys,
  anyPartner: boolean,
  call: JoinCall,
): Promise<ResultColumn | undefined> {
  const keys = oneWord(build);
  const lookups = oneWord(probe);
  const hasNulls = keys?.validity != null || lookups?.validity != null;
  if (!keys || !lookups || (call.nullsEqual && hasNulls)) return undefined;
  const { engine } = run.host;
  const { strategy } = engine.defaults;
  const pays = keys.width === 1 && build.rows >= LEAST_ROWS;
  if (strategy === undefined || strategy === "auto" ? !pays : strategy === "direct") return undefined;
  const slots = slotsFor(build.rows, MAX_LOAD);
  const key = keys.width === 1 ? "u32" : "u64";
  const [seed] = crypto.getRandomValues(new Uint32Array(1));
  const table = (await engine.createTable({ key, value: "u32", slots, hash: "murmur3", seed })) as KeyTable;
  const inputs = new KeyInputs(run, key);
  try {
    const bulk = { signal: call.signal, log: call.log };
    const numbers = await inputs.numbers(build.rows);
    const buildCall = { ...bulk, where: await inputs.mask(keys, build.rows) };
    const { existing } = await table.insert(await inputs.keys(keys, build.rows), numbers, "keep", buildCall);
    if (existing > 0 && !anyPartner) return undefined;
    const probeCall = { ...bulk, where: await inputs.mask(lookups, probe.rows) };
    const probeKeys = await inputs.keys(lookups, probe.rows);
    const { values, found } = await table.find(probeKeys, NO_ROW, "device", probeCall);
    (found as DeviceArray).destroy();
    return columns.take(values as Words);
  } finally {
    inputs.destroy();
    table.destroy();
  }
}

/** What the calls on the table are given; freed with it. */
class KeyInputs {
  readonly #arrays: DeviceArray[] = [];

  constructor(
    private readonly run: RowRun,
    private readonly type: "u32" | "u64",
  ) {}

  /** The key column as an array of the table's type. */
  async keys({ data, width }: KeyWords, rows: number): Promise<Input<"u32" | "u64">> {
    const { engine } = this.run.host;
    if (data instanceof Uint32Array) {
      const words = await engine.upload("u32", data.subarray(0, rows * width));
      this.#arrays.push(words);
      return this.#typed(words, rows);
    }
    return this.#typed(data, rows);
  }

  #typed(words: Words, rows: number): Input<"u32" | "u64"> {
    const { buffer, byteOffset } = placeOf(words);
    const { engine, gpu } = this.run.host;
    return gpuArray(engine, gpu, this.type, rows, { buffer, byteOffset, owned: false }) as Input<
      "u32" | "u64"
    >;
  }

  /** The numbers of rows. */
  async numbers(rows: number): Promise<Words> {
    const numbers = await this.#new("u32", rows);
    const range = rangeOf(numbers);
    const countUp = await this.run.step(countUpKernel, {});
    await this.run.submit("count up", (recorder) =>
      countUp(recorder, { numbers: range }, { first: 0, count: rows }),
    );
    return numbers;
  }

  /** A mask that leaves nulls out; undefined where there are none. */
  async mask({ validity }: KeyWords, rows: number): Promise<DeviceArray<"u8"> | undefined> {
    if (validity === null) return undefined;
    const { engine } = this.run.host;
    const flags = await this.#new("u8", rows);
    let bits: Words;
    if (validity instanceof Uint8Array) {
      const words = new Uint32Array(Math.ceil(rows / 32));
      new Uint8Array(words.buffer).set(validity.subarray(0, bitmapBytes(rows)));
      bits = await engine.upload("u32", words);
      this.#arrays.push(bits);
    } else bits = validity;
    const expand = await this.run.step(flagsOfBitsKernel, {});
    const bindings = { validity: rangeOf(bits), flags: rangeOf(flags) };
    await this.run.submit("flags of bits", (recorder) =>
      expand(recorder, bindings, { first: 0, count: Math.ceil(rows / 4) }),
    );
    return flags;
  }

  async #new<T extends "u8" | "u32">(type: T, rows: number): Promise<DeviceArray<T>> {
    const { engine, gpu } = this.run.host;
    const array = await newArray(engine, gpu, type, rows);
    this.#arrays.push(array);
    return array;
  }

  destroy(): void {
    for (const array of this.#arrays) array.destroy();
  }
}
