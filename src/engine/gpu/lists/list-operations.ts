/** What a GPU engine does for lists beside their own operations: it makes them, and numbers elements. */
import type { DeviceArray } from "../../device-array.js";
import type { CallOptions, ColumnInput } from "../../engine.js";
import { type BasicType, scalarWords } from "../../scalars.js";
import { isWide, slotFormat } from "../../slot-format.js";
import { type Groupable, type ListOperations, NO_LIST } from "../../value-lists.js";
import { bindAt, gpuArray, newArray, placeOf } from "../batch/columns.js";
import { BULK_CHUNK } from "../batch/large-batches.js";
import { scanning } from "../groups/scan.js";
import type { GpuHost } from "../host.js";
import { rangeOf } from "../memory/array-elements.js";
import type { GpuBuffer } from "../runtime.js";
import { GpuLists } from "./gpu-lists.js";
import { countUp, flagRows, pair } from "./list-kernels.js";
import { checkBinding, copied, type ListRun, runLists } from "./list-run.js";

/**
 * Elements below which a batch is inserted as it is, and those of a key on average: fewer gain less than grouping
 * takes.
 */
const LEAST_GROUPED = 2 ** 21;
const LEAST_COPIES = 4;

export const operationsOf = (host: GpuHost): ListOperations => ({
  none: NO_LIST,

  create: (spec) => GpuLists.create(host, spec),

  async number(first, length, where) {
    if (where !== undefined) {
      const { buffer, count } = await scannedFlags(host, where, length, first);
      const place = { buffer, byteOffset: 4, owned: true };
      return { numbers: gpuArray(host.engine, host.gpu, "u32", length, place), selected: count - first };
    }
    const numbers = await newArray(host.engine, host.gpu, "u32", length);
    return keepUnlessThrown(numbers, () =>
      runLists(host, {}, async (run) => {
        const count = await run.step(countUp, { HEAD: 1 });
        await run.eachChunk("count up", length, {}, async (chunk) => {
          const words = bindAt(placeOf(numbers).buffer, chunk.first * 4, chunk.count * 4).range;
          await run.submit("count up", (recorder) =>
            count(recorder, { words }, { count: chunk.count, base: first + chunk.first }),
          );
        });
        return { numbers, selected: length };
      }),
    );
  },

  async group(batch, call) {
    if (!paysToGroup(batch, call, host.gpu.traits.isEmulated)) return null;
    return (await import("./group-batch.js")).groupBatch(host, batch, call);
  },

  copied: (type, input) => copied(host, type, input),

  async pair(numbers, type, lower) {
    const { length } = numbers;
    checkBinding(host.gpu, length * 8);
    const pairs = await newArray(host.engine, host.gpu, "u64", length);
    return keepUnlessThrown(pairs, () =>
      runLists(host, {}, async (run) => {
        const write = await run.step(pair, { HEAD: 1 });
        const range = rangeOf(pairs);
        await run.eachChunk("pair", length, {}, async (chunk, scratch) => {
          const upper = await scratch.input("u32", numbers, chunk);
          const values = await scratch.input(type, lower, chunk);
          await run.submit("pair", (recorder) =>
            write(
              recorder,
              { numbers: upper.range, values: values.range, pairs: range },
              { ...chunk, numbersShift: upper.shift, valuesShift: values.shift },
            ),
          );
        });
        return pairs;
      }),
    );
  },
});

/** Whether a batch is to be grouped: keys and values of one word, and many of each key. */
function paysToGroup(
  { distinct, keys, table, valueType }: Groupable<BasicType>,
  { strategy }: CallOptions,
  software: boolean,
): boolean {
  const { length } = keys;
  const wide =
    scalarWords[keys.type] > 1 ||
    isWide(slotFormat(table)) ||
    (valueType !== null && scalarWords[valueType] > 1);
  if (wide || length === 0 || length > BULK_CHUNK || strategy === "direct") return false;
  return (
    strategy === "partitioned" || (!software && length >= Math.max(LEAST_GROUPED, LEAST_COPIES * distinct))
  );
}

/**
 * For each element, from the second word of a buffer on, `first` and how many are selected before it, and behind them
 * all; answers the last one too. The caller releases the buffer.
 */
export async function scannedFlags(
  host: GpuHost,
  where: ColumnInput<"u8">,
  length: number,
  first: number,
): Promise<{ buffer: GpuBuffer; count: number }> {
  const { gpu } = host;
  const bytes = (length + 2) * 4;
  checkBinding(gpu, bytes);
  const buffer = await gpu.memory.acquire("array", { bytes });
  try {
    return await runLists(host, {}, async (run) => ({
      buffer,
      count: await scanFlags(run, where, buffer, length, first),
    }));
  } catch (error) {
    gpu.memory.release(buffer);
    throw error;
  }
}

async function scanFlags(
  run: ListRun,
  where: ColumnInput<"u8">,
  buffer: GpuBuffer,
  length: number,
  first: number,
): Promise<number> {
  const words = { buffer, size: (length + 2) * 4 };
  const flag = await run.step(flagRows, { HEAD: 1, MASKED: true });
  const sum = await scanning(run, words, length + 2);
  run.host.gpu.write(buffer, 0, new Uint8Array(Uint32Array.of(first).buffer));
  await run.eachChunk("flag rows", length, {}, async (chunk, scratch) => {
    const mask = await scratch.input("u8", where, chunk);
    await run.submit("flag rows", (recorder) =>
      flag(recorder, { mask: mask.range, words }, { ...chunk, maskShift: mask.shift }),
    );
  });
  const last = new Uint32Array(1);
  await run.submit("scan", sum, [{ buffer, offset: (length + 1) * 4, into: new Uint8Array(last.buffer) }]);
  return last[0];
}

/** Runs what fills an array; when it throws, gives the array up. */
async function keepUnlessThrown<T>(array: DeviceArray, fill: () => Promise<T>): Promise<T> {
  try {
    return await fill();
  } catch (error) {
    array.destroy();
    throw error;
  }
}
