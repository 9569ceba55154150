/** Reading lists: lengths, flags and first entries by number, and all entries of many lists one after another. */
import type { DeviceArray } from "../../device-array.js";
import { isFloatWord } from "../../element-types.js";
import type { CallOptions, ColumnInput, ColumnOutput, Destination } from "../../engine.js";
import { type BasicType, type ScalarType, scalarBytes, scalarWords, wordsOf } from "../../scalars.js";
import {
  checkTotal,
  type EntryRange,
  type ListMatches,
  type LocateOptions,
  type Wanted,
} from "../../value-lists.js";
import { bindAt, newArray, placeOf } from "../batch/columns.js";
import { resultColumns } from "../batch/results.js";
import { scanning } from "../groups/scan.js";
import { totalOf } from "../groups/totals.js";
import type { GpuHost } from "../host.js";
import { rangeOf } from "../memory/array-elements.js";
import { EXPAND_TILE, expand, LOOK_UP_TILE, locate, lookUp } from "./list-kernels.js";
import { checkBinding, NO_COLUMN, runLists } from "./list-run.js";
import type { ListState } from "./list-state.js";

/** What a look-up is to answer: one of these, or an entry and a flag. */
export type LookUp =
  | { readonly what: "sizes" }
  | { readonly what: "present" }
  | {
      readonly what: "firsts";
      readonly keys: ColumnInput<BasicType> | null;
      readonly missing: number | bigint;
    };

export async function lookUpLists(
  state: ListState,
  numbers: DeviceArray<"u32">,
  asked: LookUp,
  output: Destination,
  call: CallOptions,
): Promise<readonly ColumnOutput<ScalarType>[]> {
  const { host, spec, head } = state;
  const type = spec.value ?? spec.key;
  const firsts = asked.what === "firsts" ? asked : null;
  const types = { sizes: ["u32", null], present: ["u8", null], firsts: [type, "u8"] } as const;
  const results = await resultColumns<ScalarType, ScalarType | null>(
    host,
    numbers.length,
    output,
    types[asked.what],
  );
  const [first, second] = results.columns;
  const words = firsts ? scalarWords[type] : 1;
  const [missingLow, missingHigh = 0] = firsts ? wordsOf(type, firsts.missing) : [0];
  const constants = {
    HEAD: head,
    SIZED: asked.what === "sizes",
    VALUED: firsts !== null,
    FLAGGED: asked.what !== "sizes",
    OUT_WORDS: words,
    FLOAT_KEYS: isFloatWord(spec.key),
  };
  const name = `look up ${asked.what}`;
  const work = () =>
    runLists(host, call, async (run) => {
      const read = await run.step(lookUp, constants, LOOK_UP_TILE);
      const parts = { heads: state.bind("heads"), records: state.bind("records"), room: state.bind("room") };
      await run.eachChunk(
        name,
        numbers.length,
        call,
        async (chunk, scratch) => {
          const at = await scratch.input("u32", numbers, chunk);
          const keys = firsts?.keys ? await scratch.input(spec.key, firsts.keys, chunk) : NO_COLUMN;
          const a = await first.bind(scratch, chunk);
          const b = await second?.bind(scratch, chunk);
          const flags = (asked.what === "present" ? a : b)?.column ?? NO_COLUMN;
          const out = asked.what === "present" ? NO_COLUMN : a.column;
          const reads = [...a.readback(chunk), ...(b?.readback(chunk) ?? [])];
          const bindings = {
            ...parts,
            numbers: at.range,
            keys: keys.range,
            out: out.range,
            flags: flags.range,
          };
          const params = {
            count: chunk.count,
            numbersShift: at.shift,
            keysShift: keys.shift,
            outShift: out.shift,
            flagsShift: flags.shift,
            missingLow,
            missingHigh,
          };
          await run.submit(name, (recorder) => read(recorder, bindings, params), reads);
        },
        output !== "device",
      );
    });
  await results.keepUnlessThrown(work);
  return second ? [first.output, second.output] : [first.output];
}

export async function locateLists(
  state: ListState,
  numbers: DeviceArray<"u32">,
  { outer, bytes, to }: LocateOptions,
  call: CallOptions,
): Promise<ListMatches> {
  const { host, head } = state;
  const { length } = numbers;
  checkBinding(host.gpu, (length + 1) * 4);
  const offsets = await newArray(host.engine, host.gpu, "u32", length + 1);
  let places: DeviceArray<"u32"> | undefined;
  try {
    const made = await newArray(host.engine, host.gpu, "u32", length);
    places = made;
    const total = await runLists(host, call, async (run) => {
      const isMasked = outer && call.where !== undefined;
      const measure = await run.step(locate, { HEAD: head, OUTER: outer, MASKED: isMasked });
      const words = { buffer: placeOf(offsets).buffer, size: (length + 1) * 4 };
      const parts = { heads: state.bind("heads"), control: run.control };
      const ranges = { offsets: words, places: rangeOf(made) };
      let total = 0;
      await run.eachChunk("locate lists", length, call, async (chunk, scratch) => {
        const at = await scratch.input("u32", numbers, chunk);
        const mask = isMasked && call.where ? await scratch.input("u8", call.where, chunk) : NO_COLUMN;
        const params = { ...chunk, numbersShift: at.shift, maskShift: mask.shift };
        const columns = { numbers: at.range, mask: mask.range };
        const counted = await run.counted("locate lists", (recorder) =>
          measure(recorder, { ...parts, ...ranges, ...columns }, params),
        );
        total += totalOf(counted);
      });
      const bindable = Math.floor(host.gpu.traits.maxBinding / bytes);
      checkTotal(total, to === "device" ? bindable : undefined);
      await run.submit("scan", await scanning(run, words, length + 1));
      return total;
    });
    return { offsets, places, total };
  } catch (error) {
    offsets.destroy();
    places?.destroy();
    throw error;
  }
}

export async function expandLists<K extends BasicType>(
  state: ListState,
  { offsets, places }: ListMatches,
  { first, count }: EntryRange,
  { queries: wantsQueries = false, keys, values: wantsValues = false }: Wanted<K>,
  missing: number | bigint,
  output: Destination,
  call: CallOptions,
) {
  const { host, spec, head } = state;
  const types: ScalarType[] = [];
  if (wantsQueries) types.push("u32");
  if (keys) types.push(spec.key);
  if (wantsValues && spec.value) types.push(spec.value);
  const pair = [types[0], types[1] ?? null] as const;
  const results = await resultColumns<ScalarType, ScalarType | null>(host, count, output, pair);
  const columns = types.map((_, i) => results.columns[i]);
  const outputs = columns.map((column) => column?.output);
  const [missingLow, missingHigh = 0] = wordsOf(spec.value ?? spec.key, missing);
  const keyColumn = keys ? wholeColumn(host, keys) : NO_COLUMN;
  const constants = {
    HEAD: head,
    QUERIES: wantsQueries,
    KEY_WORDS: keys ? scalarWords[spec.key] : 0,
    VALUE_WORDS: wantsValues ? state.valueWords : 0,
    FLOAT_KEYS: isFloatWord(spec.key),
  };
  const work = () =>
    runLists(host, call, async (run) => {
      const write = await run.step(expand, constants, EXPAND_TILE);
      const parts = {
        offsets: { buffer: placeOf(offsets).buffer, size: offsets.length * 4 },
        places: wholeColumn(host, places).range,
        keys: keyColumn.range,
        records: state.bind("records"),
        room: state.bind("room"),
      };
      await run.eachChunk(
        "expand lists",
        count,
        call,
        async (chunk, scratch) => {
          const bound = await Promise.all(columns.map((column) => column?.bind(scratch, chunk)));
          const next = bound.map((result) => result?.column ?? NO_COLUMN);
          const outQueries = wantsQueries ? (next.shift() ?? NO_COLUMN) : NO_COLUMN;
          const outKeys = keys ? (next.shift() ?? NO_COLUMN) : NO_COLUMN;
          const [outValues = NO_COLUMN] = next;
          const reads = bound.flatMap((result) => result?.readback(chunk) ?? []);
          const bindings = {
            ...parts,
            outQueries: outQueries.range,
            outKeys: outKeys.range,
            outValues: outValues.range,
          };
          const params = {
            first: first + chunk.first,
            count: chunk.count,
            total: places.length,
            flagsShift: outQueries.shift,
            keysShift: keyColumn.shift,
            keysOutShift: outKeys.shift,
            outShift: outValues.shift,
            missingLow,
            missingHigh,
          };
          await run.submit("expand lists", (recorder) => write(recorder, bindings, params), reads);
        },
        output !== "device",
      );
    });
  await results.keepUnlessThrown(work);
  const left = [...outputs];
  return {
    queries: wantsQueries ? left.shift() : null,
    keys: keys ? left.shift() : null,
    values: wantsValues ? left.shift() : null,
  };
}

/** A whole device array as one binding. */
export function wholeColumn(host: GpuHost, array: DeviceArray) {
  const bytes = array.length * scalarBytes[array.type];
  checkBinding(host.gpu, bytes);
  const { buffer, byteOffset } = placeOf(array);
  return bindAt(buffer, byteOffset, bytes);
}
