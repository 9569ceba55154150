/** Writing lists anew: all of them without gaps, or some without entries that were struck. */
import type { DeviceArray } from "../../device-array.js";
import type { ColumnInput } from "../../engine.js";
import type { BasicType } from "../../scalars.js";
import type { ListMatches } from "../../value-lists.js";
import { type Chunk, placeOf, type Scratch } from "../batch/columns.js";
import type { GpuBuffer } from "../runtime.js";
import { compactEntries, drop, EXPAND_TILE, expand, headLists, shorten } from "./list-kernels.js";
import { scannedFlags } from "./list-operations.js";
import { copied, type ListRun, runLists } from "./list-run.js";
import { ListState } from "./list-state.js";
import { expandLists, locateLists, wholeColumn } from "./read-lists.js";

export async function moveLists(
  state: ListState,
  numbers: DeviceArray<"u32">,
  capacity: number,
): Promise<ListState> {
  const { host, spec, head, valueWords } = state;
  const to = await ListState.create(host, { ...spec, capacity });
  let matches: ListMatches | undefined;
  try {
    matches = await locateLists(state, numbers, { outer: false, bytes: 4, to: "host" }, {});
    const { offsets, places, total } = matches;
    await runLists(host, {}, async (run) => {
      const constants = {
        HEAD: head,
        QUERIES: false,
        KEY_WORDS: 0,
        VALUE_WORDS: valueWords,
        FLOAT_KEYS: false,
      };
      const write = await run.step(expand, constants, EXPAND_TILE);
      const located = { buffer: placeOf(offsets).buffer, size: offsets.length * 4 };
      await writeHeads(run, to, offsets);
      if (valueWords === 0) return;
      const from = { room: state.bind("room"), records: state.bind("records") };
      const bindings = {
        ...from,
        offsets: located,
        places: wholeColumn(host, places).range,
        outValues: to.bind("room"),
      };
      await run.eachChunk("move lists", total, {}, (chunk) =>
        run.submit("move lists", (recorder) =>
          write(recorder, bindings, { ...chunk, total: numbers.length, outShift: chunk.first * valueWords }),
        ),
      );
    });
    to.entries = total;
    to.used = valueWords > 0 ? total : 0;
    to.filled = state.filled;
    to.taken = numbers.length;
    return to;
  } catch (error) {
    to.release();
    throw error;
  } finally {
    matches?.offsets.destroy();
    matches?.places.destroy();
  }
}

export async function layLists(
  state: ListState,
  offsets: Uint32Array,
  values: ColumnInput<BasicType> | null,
): Promise<void> {
  const { host, spec, valueWords } = state;
  const given = await copied(host, "u32", offsets);
  try {
    await runLists(host, {}, async (run) => {
      await writeHeads(run, state, given);
      const { value } = spec;
      const room = state.bind("room");
      if (values === null || value === null || room === undefined) return;
      const place = async (chunk: Chunk, scratch: Scratch) => {
        const { range, shift } = await scratch.input(value, values, chunk);
        const [from, to, bytes] = [shift, chunk.first * valueWords, chunk.count * valueWords].map(
          (n) => n * 4,
        );
        await run.submit("lay lists", (recorder) =>
          recorder.copy(range.buffer, (range.offset ?? 0) + from, room.buffer, to, bytes),
        );
      };
      await run.eachChunk("lay lists", values.length, {}, place, true);
    });
  } finally {
    given.destroy();
  }
}

/** The heads of lists that lie one after another. */
async function writeHeads(run: ListRun, to: ListState, offsets: DeviceArray<"u32">): Promise<void> {
  const heads = await run.step(headLists, { HEAD: to.head });
  const located = { buffer: placeOf(offsets).buffer, size: offsets.length * 4 };
  const total = offsets.length - 1;
  await run.eachChunk("head lists", total, {}, (chunk) =>
    run.submit("head lists", (recorder) =>
      heads(recorder, { offsets: located, heads: to.bind("heads") }, { ...chunk, total }),
    ),
  );
}

export async function strikeEntries(
  state: ListState,
  numbers: DeviceArray<"u32">,
  matches: ListMatches,
  flags: DeviceArray<"u8">,
): Promise<number> {
  const { host, valueWords } = state;
  const { offsets, places, total } = matches;
  const copies = await expandLists(
    state,
    matches,
    { first: 0, count: total },
    { queries: true, values: true },
    0,
    "device",
    {},
  );
  const [queries, values] = [copies.queries as DeviceArray, copies.values as DeviceArray];
  let struck: GpuBuffer | undefined;
  try {
    const { buffer, count } = await scannedFlags(host, flags, total, 0);
    struck = buffer;
    if (count === 0) return 0;
    await runLists(host, {}, async (run) => {
      const close = await run.step(compactEntries, { HEAD: 2, VALUE_WORDS: valueWords });
      const cut = await run.step(shorten, { HEAD: 2 });
      const given = {
        struck: { buffer, size: (total + 2) * 4 },
        offsets: { buffer: placeOf(offsets).buffer, size: offsets.length * 4 },
      };
      const copied = { queries: wholeColumn(host, queries).range, copies: wholeColumn(host, values).range };
      const at = wholeColumn(host, numbers);
      const entries = {
        ...given,
        ...copied,
        places: wholeColumn(host, places).range,
        records: state.bind("records"),
        room: state.bind("room"),
      };
      await run.eachChunk("close gaps", total, {}, (chunk) =>
        run.submit("close gaps", (recorder) => close(recorder, entries, { ...chunk, total })),
      );
      const lists = { ...given, numbers: at.range, heads: state.bind("heads"), control: run.control };
      await run.eachChunk("shorten lists", numbers.length, {}, async (chunk) => {
        const params = { ...chunk, total: numbers.length, numbersShift: at.shift };
        state.filled -= (
          await run.counted("shorten lists", (recorder) => cut(recorder, lists, params))
        ).filled;
      });
    });
    state.entries -= count;
    return count;
  } finally {
    queries.destroy();
    values.destroy();
    if (struck) host.gpu.memory.release(struck);
  }
}

export function dropLists(state: ListState, numbers: DeviceArray<"u32">): Promise<number> {
  return runLists(state.host, {}, async (run) => {
    const empty = await run.step(drop, { HEAD: state.head });
    let entries = 0;
    await run.eachChunk("drop lists", numbers.length, {}, async (chunk, scratch) => {
      const at = await scratch.input("u32", numbers, chunk);
      const columns = { numbers: at.range, heads: state.bind("heads"), control: run.control };
      const counted = await run.counted("drop lists", (recorder) =>
        empty(recorder, columns, { count: chunk.count, numbersShift: at.shift }),
      );
      entries += counted.entries;
      state.entries -= counted.entries;
      state.filled -= counted.filled;
    });
    return entries;
  });
}
