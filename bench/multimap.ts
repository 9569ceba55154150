/**
 * The benchmark multimap: insert, count and retrieve of a StaticMultimap and a StaticMultiset whose keys all come 1, 8, 64, 1,024 or 65,536
 * times, and an insert of 1 % into what holds 99 %. Equal keys are spread over the batch as
 * if at random, the same on all devices.
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
import { type DeviceEntries, Entries, openEntries } from "./multimap-workload.js";
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

/** One multiplicity can be asked for alone. */
export const takesMultiplicity = true;

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
  for (const multiplicity of multiplicities(size, options.multiplicity)) {
    const entries = new Entries(size, multiplicity);
    const progress = (what: string) => {
      options.signal?.throwIfAborted();
      options.onProgress?.(`${size} entries, ${multiplicity} of a key: ${what}`);
    };
    progress("make");
    using made = await openEntries(device, entries);
    await withColumns(made, entries, async (columns) => {
      for (const kind of KINDS) {
        const step = (what: string) => progress(`${kind}, ${what}`);
        try {
          rows.push(...(await measure({ device, kind, entries, columns, runs, step }, made)));
        } catch (error) {
          if (!(error instanceof LimitError)) throw error;
          notes.push(`A ${kind} with ${multiplicity} equal keys does not fit this device. ${error.message}`);
        }
      }
    });
  }
  return {
    bench: "multimap",
    state: "by row",
    ...where,
    parameters: { entries: size, key: "u32", value: "u32", maxLoadFactor: 0.5 },
    rows,
    ...(isRealGpu(device) && { published: MULTIMAPS }),
    notes,
  };
}

/** The multiplicities that are measured: those of the table, or the one that is asked for. */
function multiplicities(size: number, asked?: number): readonly number[] {
  if (asked === undefined) return MULTIPLICITIES.filter((each) => each <= size);
  if (Number.isInteger(asked) && asked >= 1 && asked <= size) return [asked];
  throw new ValidationError(
    `multimap does not measure ${asked} of ${size} entries of a key.`,
    "Give a multiplicity from 1 to the number of entries.",
  );
}

/** A container under test: values are the numbers of the entries. */
class Contestant {
  private constructor(
    readonly kind: Kind,
    private readonly table: StaticMultimap | StaticMultiset,
  ) {}

  static async create(device: Device, kind: Kind, { size, distinct }: Entries): Promise<Contestant> {
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

/** A measurement under way. */
interface Point {
  readonly device: Device;
  readonly kind: Kind;
  readonly entries: Entries;
  readonly columns: Columns;
  readonly runs: number;
  /** Told what is measured next, unless the run is to stop. */
  readonly step: (what: string) => void;
}

/** Makes the columns of a multiplicity once for both containers. */
async function withColumns<T>(
  made: DeviceEntries,
  { size }: Entries,
  use: (columns: Columns) => Promise<T>,
): Promise<T> {
  const kept: Column[] = [];
  const keep = async (column: Promise<Column>) => {
    kept.push(await column);
    return column;
  };
  const rest = Math.ceil(size / 100);
  const most = size - rest;
  try {
    return await use({
      keys: await keep(made.keys()),
      values: await keep(made.values()),
      distinct: await keep(made.distinctKeys()),
      most: { keys: await keep(made.keys(0, most)), values: await keep(made.values(0, most)) },
      rest: { keys: await keep(made.keys(most, rest)), values: await keep(made.values(most, rest)) },
    });
  } finally {
    for (const column of kept) column.destroy();
  }
}

async function measure(point: Point, made: DeviceEntries): Promise<BenchRow[]> {
  point.step("check");
  await using table = await Contestant.create(point.device, point.kind, point.entries);
  await check(table, made, point);
  return await time(table, point);
}

async function time(
  table: Contestant,
  { device, kind, entries, columns, runs, step }: Point,
): Promise<BenchRow[]> {
  const { keys, values, distinct, most, rest } = columns;
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
    {
      name: "insert",
      elements: entries.size,
      call: { before: empty, call: () => table.insert(keys, values) },
    },
    {
      name: "count",
      elements: entries.size,
      call: { before: full, call: () => table.count(keys), after: (counts: Column) => free(counts) },
    },
    {
      name: "retrieve",
      elements: entries.size,
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
      elements: entries.size,
      fresh: true,
      call: {
        before: () => settle(device),
        call: async () => {
          const fresh = await Contestant.create(device, kind, entries);
          await fresh.insert(keys, values);
          return fresh;
        },
        after: (fresh: Contestant) => fresh[Symbol.asyncDispose](),
      },
    },
  ];
  const rows: BenchRow[] = [];
  for (const { name, elements, fresh = false, call } of calls) {
    step(name);
    const warmUpMs = byDevice(device, { gpu: WARM_UP_MS, cpu: 0, software: 0 });
    const [{ median, fastest }] = await timeInTurn([call], { runs, leastTotalMs: 0, warmUpMs });
    rows.push({
      state: fresh ? "fresh table" : "warm loop",
      container: kind,
      "equal keys": entries.multiplicity,
      operation: name,
      on: engineName(device),
      ms: median,
      "fastest ms": fastest,
      "G/s": elements / median / 1e6,
    });
  }
  return rows;
}

/** Inserts in two parts, and checks everything that is timed. Leaves the table empty. */
async function check(
  table: Contestant,
  made: DeviceEntries,
  { kind, entries, columns }: Point,
): Promise<void> {
  const { keys, distinct, most, rest } = columns;
  let inserted = 0;
  for (const part of [most, rest]) inserted += (await table.insert(part.keys, part.values)).inserted;
  if (inserted !== entries.size || table.size !== entries.size || table.keyCount !== entries.distinct) {
    throw new EngineError(
      `multimap: inserted ${inserted} of ${entries.size} entries, of ${table.keyCount} keys.`,
    );
  }
  const counts = await table.count(keys);
  await made.checkCounts(counts).finally(() => counts.destroy());
  const answer = await table.retrieve(distinct);
  await made.checkRetrieved(kind === "multiset", answer).finally(() => {
    answer.offsets.destroy();
    answer.entries.destroy();
  });
  await table.clear();
}
