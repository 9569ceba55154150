/**
 * The benchmark peers: insert, find, find of absent keys and erase of unique u32 keys with u32 values, by this engine (all
 * threads, and one), by JavaScript's Map, and by the hash maps of C++ in bench/peers, all in turn in one run. The C++ maps
 * are processes of their own that wait for lines; the clock here stops when they answer.
 *
 * It needs the programs built: make -C bench/peers. Then: node bench/run.mjs peers --device cpu
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { type Device, EngineError, openDevice, ValidationError } from "../src/index.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances } from "./report.js";
import { javascriptMap, LOAD_FACTOR, MOST_MAP_ENTRIES, staticMap } from "./static-map-contestants.js";
import { Workload } from "./static-map-workload.js";
import { type TimedCall, type Timing, timeInTurn } from "./timing.js";

const OPERATIONS = ["insert", "find present", "find absent", "erase"] as const;
type Operation = (typeof OPERATIONS)[number];

/** Maps of bench/peers; the name of the first that others are compared with is used in the report. */
const PEERS = [
  { map: "boost", name: "boost::unordered_flat_map", threaded: false },
  { map: "absl", name: "absl::flat_hash_map", threaded: false },
  { map: "std", name: "std::unordered_map", threaded: false },
  { map: "tbb", name: "tbb::concurrent_hash_map", threaded: true },
] as const;

interface Contestant {
  readonly name: string;
  readonly threads: number;
  readonly calls: Readonly<Partial<Record<Operation, TimedCall>>>;
  readonly close: () => Promise<void>;
}

/** `options.size`: keys. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  if (device.backend !== "cpu") throw new ValidationError("peers compares CPU maps.", "Pass --device cpu.");
  const program = peersProgram();
  const sizes = options.size === undefined ? [2 ** 23, 2 ** 24] : [options.size];
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  const rows: BenchRow[] = [];
  for (const size of sizes) rows.push(...(await measureSize(device, program, size, { ...options, runs })));
  return {
    bench: "peers",
    state: "warm loop",
    ...where,
    parameters: { key: "u32", value: "u32", "load factor of warpmap": LOAD_FACTOR, hash: "each map's own" },
    rows,
    notes: [
      "Medians of runs in turn, one contestant after the other. Every answer was checked: keys inserted, found and erased, and the sum of the values found.",
      '"times as fast as X": the time of X over this row\'s time; above 1, this row is faster. X is a JS Map, and boost::unordered_flat_map with one thread.',
      "All start from an empty map with room for all keys; look-ups and erases come in another order than inserts. A JS Map cannot be given room, and holds at most 2^24 entries.",
    ],
  };
}

/** @throws ValidationError when the programs are not built. */
function peersProgram(): string {
  // the benchmark may run from a bundle in another folder
  const found = [import.meta.dirname, "bench"]
    .map((folder) => resolve(folder, "peers/build/peers"))
    .find((path) => existsSync(path));
  if (found) return found;
  throw new ValidationError(
    "The C++ maps are not built.",
    "Run `make -C bench/peers` in the repository's folder; bench/peers/README.md says what it needs.",
  );
}

async function measureSize(
  device: Device,
  program: string,
  size: number,
  options: BenchOptions & { runs: number },
): Promise<BenchRow[]> {
  const workload = new Workload(size);
  const { threads } = device.info;
  const contestants: Contestant[] = [];
  const single = threads > 1 ? await openDevice({ backend: "cpu", threads: 1 }) : null;
  try {
    options.onProgress?.(`checking ${size} keys`);
    for (const each of single ? [device, single] : [device])
      contestants.push(await engineMap(each, workload));
    if (size <= MOST_MAP_ENTRIES) contestants.push(mapOfJavascript(workload));
    for (const { map, name, threaded } of PEERS) {
      for (const count of new Set(threaded ? [1, threads] : [1]))
        contestants.push(peer(program, map, name, count, size));
    }
    const rows: BenchRow[] = [];
    for (const operation of OPERATIONS) {
      options.signal?.throwIfAborted();
      options.onProgress?.(`${operation} of ${size} keys`);
      const able = contestants.flatMap((contestant) => {
        const call = contestant.calls[operation];
        return call ? [{ contestant, call }] : [];
      });
      const timings = await timeInTurn(
        able.map(({ call }) => call),
        { runs: options.runs, leastTotalMs: 0 },
      );
      rows.push(...describe(size, operation, able, timings));
    }
    return rows;
  } finally {
    for (const contestant of contestants) await contestant.close();
    single?.destroy();
  }
}

function describe(
  size: number,
  operation: Operation,
  able: readonly { contestant: Contestant }[],
  timings: readonly Timing[],
): BenchRow[] {
  const timeOf = (name: string) =>
    timings[able.findIndex(({ contestant }) => contestant.name === name)]?.median;
  const [map, boost] = [timeOf(JS_MAP), timeOf(PEERS[0].name)];
  return able.map(({ contestant: { name, threads } }, i) => ({
    size,
    operation,
    by: name,
    threads,
    ms: timings[i].median,
    "fastest ms": timings[i].fastest,
    runs: timings[i].runs,
    "M keys/s": size / timings[i].median / 1e3,
    "times as fast as JS Map": map === undefined ? null : map / timings[i].median,
    "times as fast as boost": boost / timings[i].median,
  }));
}

/** A StaticMap, which `staticMap` checks key by key before it returns. */
async function engineMap(device: Device, workload: Workload): Promise<Contestant> {
  const { calls, ...map } = await staticMap(device, "warpmap", workload);
  return {
    name: "warpmap cpu",
    threads: device.info.threads,
    calls,
    close: async () => map[Symbol.asyncDispose](),
  };
}

const JS_MAP = "JS Map";

function mapOfJavascript(workload: Workload): Contestant {
  const map = javascriptMap(workload);
  const checked = (call: TimedCall | undefined, found: number): TimedCall | undefined =>
    call && {
      ...call,
      after: (result: { values: Uint32Array; found: Uint8Array }) => {
        const hits = result.found.reduce((sum, hit) => sum + hit, 0);
        const values = result.values.reduce((sum, value) => sum + value, 0);
        expectAnswer(JS_MAP, [hits, values], [found, sumOfValues(found)]);
      },
    };
  return {
    name: JS_MAP,
    threads: 1,
    calls: {
      insert: map.calls.insert,
      "find present": checked(map.calls["find present"], workload.size),
      "find absent": checked(map.calls["find absent"], 0),
    },
    close: async () => map[Symbol.asyncDispose](),
  };
}

/** A map of C++: a process that works when it is sent a line. */
function peer(program: string, map: string, name: string, threads: number, size: number): Contestant {
  const process = spawn(program, [map, String(size), String(threads)]);
  const lines = linesOf(process, name);
  const send = async (line: string, count: number): Promise<() => Promise<void>> => {
    process.stdin.write(`${line}\n`);
    const answered = Number(await lines());
    return async () => {
      const sum = Number(await lines());
      expectAnswer(`${name}, ${line}`, [answered, sum], [count, line === "find" ? sumOfValues(count) : 0]);
    };
  };
  let entries = 0;
  const now = async (line: string, count: number) => (await send(line, count))();
  const empty = async () => {
    await now("clear", 0);
    entries = 0;
  };
  const full = async () => {
    if (entries === size) return;
    await empty();
    await now("insert", size);
    entries = size;
  };
  const refill = async () => {
    entries = 0;
    await full();
  };
  // the second line, the sum, is read outside the time
  const timed = (line: string, count: number, before: () => unknown, left: number): TimedCall => ({
    before,
    call: () => send(line, count),
    after: async (check: () => Promise<void>) => {
      await check();
      entries = left;
    },
  });
  return {
    name,
    threads,
    calls: {
      insert: timed("insert", size, empty, size),
      "find present": timed("find", size, full, size),
      "find absent": timed("absent", 0, full, size),
      erase: timed("erase", size, refill, 0),
    },
    close: async () => {
      process.stdin.end("quit\n");
    },
  };
}

/** Reads a process line by line; rejects when it ends. */
function linesOf(process: ChildProcessWithoutNullStreams, name: string): () => Promise<string> {
  let errors = "";
  process.stderr.on("data", (text) => {
    errors += text;
  });
  const lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await lines.next();
    if (done) throw new EngineError(`peers: ${name} ended. ${errors}`);
    return value;
  };
}

/** Of the values 0, 1, 2, … */
function sumOfValues(count: number): number {
  return (count * (count - 1)) / 2;
}

function expectAnswer(what: string, answer: readonly number[], expected: readonly number[]): void {
  if (answer.every((value, i) => value === expected[i])) return;
  throw new EngineError(`peers: ${what} answered ${answer.join(" ")}, not ${expected.join(" ")}.`);
}
