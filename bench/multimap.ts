/**
 * The benchmark multimap: insert, count and retrieve of a StaticMultimap and a StaticMultiset whose keys all come 1, 8, 64, 1,024 or 65,536
 * times, and an insert of 1 % into what holds 99 %. Equal keys are spread over the batch at random, with one seed for all devices.
 */
import {
  type Device,
  type DeviceArray,
  EngineError,
  LimitError,
  StaticMultimap,
  StaticMultiset,
  ValidationError,
} from "../src/index.js";
import { mix } from "./mix.js";
import { MULTIMAPS } from "./published.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
  isRealGpu,
} from "./report.js";
import { settle, type TimedCall, timeInTurn } from "./timing.js";
import { Random } from "./zipf.js";

const MULTIPLICITIES = [1, 8, 64, 1024, 65_536];
const KINDS = ["multiset", "multimap"] as const;
/** Memory that was allocated or freed slows a GPU for some hundred milliseconds. */
const WARM_UP_MS = 300;

type Kind = (typeof KINDS)[number];
type Column = DeviceArray<"u32">;

/** `options.size`: entries. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const size = options.size ?? byDevice(device, { gpu: 2 ** 26, cpu: 2 ** 20, software: 2 ** 13 });
  if (!(Number.isInteger(size) && size >= 128 && size <= 2 ** 27)) {
    throw new ValidationError(
      `multimap does not measure ${size} entries.`,
      "Give a whole number from 128 to 2^27.",
    );
  }
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  const rows: BenchRow[] = [];
  const notes = [
    "ms is the median wall time of the awaited call, inputs and results on the device. G/s are 10^9 elements a second: entries that are inserted or retrieved, keys that are counted.",
    "count is asked for the key of every entry, retrieve for every distinct key once. Insert into a fresh table counts its creation, and not that it is freed.",
    "Before they were timed, the calls were checked: sizes, the count of every key, every entry that is retrieved, each exactly once.",
  ];
  for (const multiplicity of MULTIPLICITIES.filter((each) => each <= size)) {
    const batch = new Batch(size, multiplicity);
    for (const kind of KINDS) {
      options.signal?.throwIfAborted();
      options.onProgress?.(`${kind}, ${size} entries, ${multiplicity} of a key`);
      try {
        rows.push(...(await measure(device, kind, batch, runs)));
      } catch (error) {
        if (!(error instanceof LimitError)) throw error;
        notes.push(`A ${kind} with ${multiplicity} equal keys does not fit this device. ${error.message}`);
      }
    }
  }
  return {
    bench: "multimap",
    state: "by row",
    ...where,
    parameters: { entries: size, key: "u32", value: "u32", maxLoadFactor: 0.5, seed: 1 },
    rows,
    ...(isRealGpu(device) && { published: MULTIMAPS }),
    notes,
  };
}

/** Numbers of keys, each as often as the others, shuffled. */
class Batch {
  readonly numbers: Uint32Array;
  readonly distinct: number;

  constructor(
    readonly size: number,
    readonly multiplicity: number,
  ) {
    this.distinct = Math.ceil(size / multiplicity);
    this.numbers = Uint32Array.from({ length: size }, (_, i) => i % this.distinct);
    const random = new Random(1);
    for (let i = size - 1; i > 0; i--) {
      const j = Math.floor(random.unit() * (i + 1));
      [this.numbers[i], this.numbers[j]] = [this.numbers[j], this.numbers[i]];
    }
  }

  /** Entries of a key. */
  countOf(number: number): number {
    return Math.floor((this.size - 1 - number) / this.distinct) + 1;
  }
}

/** A container under test: values are the numbers of the entries. */
class Contestant {
  private constructor(
    readonly kind: Kind,
    private readonly table: StaticMultimap | StaticMultiset,
  ) {}

  static async create(device: Device, kind: Kind, { size, distinct }: Batch): Promise<Contestant> {
    const options = { key: "u32", capacity: size, keyCapacity: distinct } as const;
    if (kind === "multiset") return new Contestant(kind, await StaticMultiset.create(device, options));
    return new Contestant(kind, await StaticMultimap.create(device, { ...options, value: "u32" }));
  }

  insert(keys: Column, values: Column): Promise<{ inserted: number }> {
    const { table } = this;
    return table instanceof StaticMultimap ? table.insert(keys, values) : table.insert(keys);
  }

  count(keys: Column): Promise<Column> {
    return this.table.count(keys, { output: "device" });
  }

  async retrieve(keys: Column): Promise<{ offsets: Column; entries: Column }> {
    const { table } = this;
    const options = { output: "device" } as const;
    if (table instanceof StaticMultimap) {
      const { offsets, values } = await table.retrieve(keys, options);
      return { offsets, entries: values };
    }
    const { offsets, keys: entries } = await table.retrieve(keys, options);
    return { offsets, entries };
  }

  get size(): number {
    return this.table.size;
  }

  get keyCount(): number {
    return this.table.keyCount;
  }

  clear(): Promise<void> {
    return this.table.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.table[Symbol.asyncDispose]();
  }
}

/** The columns of a batch on the device. */
interface Columns {
  readonly keys: Column;
  readonly values: Column;
  readonly distinct: Column;
  /** The first 99 % and the rest. */
  readonly most: { readonly keys: Column; readonly values: Column };
  readonly rest: { readonly keys: Column; readonly values: Column };
}

async function measure(device: Device, kind: Kind, batch: Batch, runs: number): Promise<BenchRow[]> {
  const made: Column[] = [];
  const upload = async (column: Uint32Array) => {
    const array = await device.upload(column);
    made.push(array);
    return array;
  };
  try {
    const keys = batch.numbers.map(mix);
    const values = Uint32Array.from(batch.numbers, (_, i) => i);
    const cut = batch.size - Math.ceil(batch.size / 100);
    const columns: Columns = {
      keys: await upload(keys),
      values: await upload(values),
      distinct: await upload(Uint32Array.from({ length: batch.distinct }, (_, i) => mix(i))),
      most: { keys: await upload(keys.slice(0, cut)), values: await upload(values.slice(0, cut)) },
      rest: { keys: await upload(keys.slice(cut)), values: await upload(values.slice(cut)) },
    };
    await using table = await Contestant.create(device, kind, batch);
    await check(table, columns, batch);
    return await time(device, table, columns, batch, runs);
  } finally {
    for (const array of made) array.destroy();
  }
}

async function time(
  device: Device,
  table: Contestant,
  { keys, values, distinct, most, rest }: Columns,
  batch: Batch,
  runs: number,
): Promise<BenchRow[]> {
  const { kind } = table;
  const empty = async () => {
    await table.clear();
    await settle(device);
  };
  const full = async () => {
    if (table.size === 0) await table.insert(keys, values);
    await settle(device);
  };
  const free = async (...arrays: Column[]) => {
    for (const array of arrays) array.destroy();
    await settle(device);
  };
  const calls: readonly { name: string; elements: number; fresh?: boolean; call: TimedCall }[] = [
    { name: "insert", elements: batch.size, call: { before: empty, call: () => table.insert(keys, values) } },
    {
      name: "count",
      elements: batch.size,
      call: { before: full, call: () => table.count(keys), after: (counts: Column) => free(counts) },
    },
    {
      name: "retrieve",
      elements: batch.size,
      call: {
        before: full,
        call: () => table.retrieve(distinct),
        after: ({ offsets, entries }: { offsets: Column; entries: Column }) => free(offsets, entries),
      },
    },
    {
      name: "insert of 1 %",
      elements: rest.keys.length,
      call: {
        before: async () => {
          await table.clear();
          await table.insert(most.keys, most.values);
          await settle(device);
        },
        call: () => table.insert(rest.keys, rest.values),
      },
    },
    {
      name: "create and insert",
      elements: batch.size,
      fresh: true,
      call: {
        before: () => settle(device),
        call: async () => {
          const fresh = await Contestant.create(device, kind, batch);
          await fresh.insert(keys, values);
          return fresh;
        },
        after: (fresh: Contestant) => fresh[Symbol.asyncDispose](),
      },
    },
  ];
  const rows: BenchRow[] = [];
  for (const { name, elements, fresh = false, call } of calls) {
    const warmUpMs = byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 });
    const [{ median, fastest }] = await timeInTurn([call], { runs, leastTotalMs: 0, warmUpMs });
    rows.push({
      state: fresh ? "fresh table" : "warm loop",
      container: kind,
      "equal keys": batch.multiplicity,
      operation: name,
      on: engineName(device),
      ms: median,
      "fastest ms": fastest,
      "G/s": elements / median / 1e6,
    });
  }
  return rows;
}

/** Inserts in two parts, and checks everything that is timed. */
async function check(
  table: Contestant,
  { keys, distinct, most, rest }: Columns,
  batch: Batch,
): Promise<void> {
  let inserted = 0;
  for (const part of [most, rest]) inserted += (await table.insert(part.keys, part.values)).inserted;
  if (inserted !== batch.size || table.size !== batch.size || table.keyCount !== batch.distinct) {
    throw wrong(`inserted ${inserted} of ${batch.size} entries, of ${table.keyCount} keys`);
  }
  const counts = await host(await table.count(keys));
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] !== batch.countOf(batch.numbers[i]))
      throw wrong(`counted ${counts[i]} of entry ${i}'s key`);
  }
  const answer = await table.retrieve(distinct);
  const [offsets, entries] = [await host(answer.offsets), await host(answer.entries)];
  if (offsets.length !== batch.distinct + 1 || entries.length !== batch.size) {
    throw wrong(`retrieved ${entries.length} entries`);
  }
  const seen = new Uint8Array(batch.size);
  for (let number = 0; number < batch.distinct; number++) {
    const [start, end] = [offsets[number], offsets[number + 1]];
    if (end - start !== batch.countOf(number))
      throw wrong(`retrieved ${end - start} entries of key ${number}`);
    for (let i = start; i < end; i++) {
      const isRight =
        table.kind === "multiset"
          ? entries[i] === mix(number)
          : batch.numbers[entries[i]] === number && seen[entries[i]]++ === 0;
      if (!isRight) throw wrong(`retrieved a wrong entry of key ${number}`);
    }
  }
  await table.clear();
}

/** Brings a result to the host, and frees it. */
async function host(array: Column): Promise<Uint32Array> {
  const data = await array.read();
  array.destroy();
  return data;
}

function wrong(what: string): EngineError {
  return new EngineError(`multimap: ${what}.`);
}
