/**
 * The benchmark ids: 64-bit ids to row numbers, as in a join by hand or a look-up of embeddings. A StaticMap of u64 to u32 and a JS Map of
 * bigints are filled with the same random ids, and asked for all of them in another order, and for as many of which half are absent. Ids
 * come as a BigUint64Array; the JS Map is also asked from a list of bigints that exist already, which is the best case for it.
 */
import { type Device, EngineError, openDevice, StaticMap, ValidationError } from "../src/index.js";
import { mix } from "./mix.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";
import { MOST_MAP_ENTRIES } from "./static-map-contestants.js";
import { type Repeats, type TimedCall, timeInTurn } from "./timing.js";
import { Random } from "./zipf.js";

const RUNS = 5;

/** What is looked up, and what a right answer says: a missing id has the value 0. */
interface Question {
  readonly ids: BigUint64Array;
  readonly values: Uint32Array;
  readonly found: Uint8Array;
}

type Answer = Pick<Question, "values" | "found">;

const QUESTIONS = ["find", "find, half absent"] as const;

interface Workload {
  readonly ids: BigUint64Array;
  readonly rows: Uint32Array;
  readonly questions: Readonly<Record<(typeof QUESTIONS)[number], Question>>;
}

/** A map that is full. */
interface Contestant {
  readonly name: string;
  /** Makes another map with the ids; undefined where that is another contestant's. */
  readonly fill?: TimedCall;
  find(question: Question): Answer | Promise<Answer>;
  close(): void;
}

/** `options.size`: ids. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const size = options.size ?? byDevice(device, { gpu: 2e6, cpu: 2e6, software: 2 ** 16 });
  if (!(Number.isInteger(size) && size >= 1 && size <= MOST_MAP_ENTRIES)) {
    throw new ValidationError(
      `ids does not measure maps of ${size} ids.`,
      `Give a whole number from 1 to ${MOST_MAP_ENTRIES}: a JS Map stands beside them.`,
    );
  }
  const repeats = { runs: options.runs ?? RUNS, leastTotalMs: 0 };
  const where = circumstances(device);
  const begin = (label: string) => {
    options.signal?.throwIfAborted();
    options.onProgress?.(label);
  };
  begin(`filling maps of ${size} ids`);
  const workload = makeWorkload(size);
  const alone = device.backend === "cpu" && device.info.threads > 1;
  const single = alone ? await openDevice({ backend: "cpu", threads: 1 }) : null;
  const contestants: Contestant[] = [];
  try {
    for (const each of single ? [device, single] : [device]) {
      contestants.push(await staticMapOf(each, workload));
    }
    contestants.push(...mapsOf(workload));
    const rows: BenchRow[] = [];
    const time = async (operation: string, callOf: (contestant: Contestant) => TimedCall | undefined) =>
      rows.push(...(await timeAll(size, operation, contestants, callOf, repeats)));
    begin("create and insert");
    await time("create and insert", ({ fill }) => fill);
    for (const operation of QUESTIONS) {
      begin(operation);
      const question = workload.questions[operation];
      for (const each of contestants) check(operation, each.name, await each.find(question), question);
      await time(operation, (each) => ({ call: () => each.find(question) }));
    }
    return {
      bench: "ids",
      state: "warm loop",
      ...where,
      parameters: { ids: size, key: "u64", value: "u32", "load factor": 0.5 },
      rows,
      notes: [
        "ms is the median wall time of the awaited call, from a BigUint64Array to typed arrays with values and found flags; contestants take turns. Every answer was checked before it was timed.",
        `"times as fast as JS Map": the time of the JS Map that is given the same arrays over this row's time. ${BOXED} is given bigints that exist already.`,
      ],
    };
  } finally {
    for (const each of contestants) each.close();
    single?.destroy();
  }
}

/** Times one call of each contestant that has it, in turn. */
async function timeAll(
  size: number,
  operation: string,
  contestants: readonly Contestant[],
  callOf: (contestant: Contestant) => TimedCall | undefined,
  repeats: Repeats,
): Promise<BenchRow[]> {
  const able = contestants.flatMap((contestant) => {
    const call = callOf(contestant);
    return call ? [{ name: contestant.name, call }] : [];
  });
  const timings = await timeInTurn(
    able.map(({ call }) => call),
    repeats,
  );
  const ofMap = timings[able.findIndex(({ name }) => name === JS_MAP)].median;
  return timings.map(({ median, fastest, runs }, i) => ({
    operation,
    on: able[i].name,
    ms: median,
    "fastest ms": fastest,
    "M ids/s": size / median / 1000,
    "times as fast as JS Map": ofMap / median,
    runs,
  }));
}

/** An id for each number. No two numbers have the same, since their high words differ. */
function idsOf(numbers: Uint32Array): BigUint64Array {
  const words = new Uint32Array(2 * numbers.length);
  for (const [i, number] of numbers.entries()) {
    words[2 * i + 1] = mix(number);
    words[2 * i] = mix(~number);
  }
  return new BigUint64Array(words.buffer);
}

function makeWorkload(size: number): Workload {
  const rows = Uint32Array.from({ length: size }, (_, i) => i);
  const random = new Random(5);
  const ask = (isThere: (number: number) => boolean): Question => {
    const numbers = rows.slice();
    for (let i = size - 1; i > 0; i--) {
      const other = Math.floor(random.unit() * (i + 1));
      [numbers[i], numbers[other]] = [numbers[other], numbers[i]];
    }
    return {
      ids: idsOf(numbers.map((number) => (isThere(number) ? number : size + number))),
      values: numbers.map((number) => (isThere(number) ? number : 0)),
      found: Uint8Array.from(numbers, (number) => (isThere(number) ? 1 : 0)),
    };
  };
  return {
    ids: idsOf(rows),
    rows,
    questions: { find: ask(() => true), "find, half absent": ask((number) => number % 2 === 0) },
  };
}

async function staticMapOf(device: Device, { ids, rows }: Workload): Promise<Contestant> {
  const filled = async () => {
    const map = await StaticMap.create(device, { key: "u64", value: "u32", capacity: ids.length });
    await map.insert(ids, rows);
    return map;
  };
  const map = await filled();
  return {
    name: engineName(device),
    fill: { call: filled, after: (made: StaticMap<"u64">) => made.destroy() },
    find: (question) => map.find(question.ids),
    close: () => map.destroy(),
  };
}

const JS_MAP = "JS Map";
const BOXED = "JS Map, from bigints";

function mapsOf({ ids, rows, questions }: Workload): Contestant[] {
  const filled = () => {
    const map = new Map<bigint, number>();
    for (let i = 0; i < ids.length; i++) map.set(ids[i], rows[i]);
    return map;
  };
  const map = filled();
  const bigints = new Map(QUESTIONS.map((name) => [questions[name], [...questions[name].ids]]));
  const find = (asked: ArrayLike<bigint>): Answer => {
    const values = new Uint32Array(asked.length);
    const found = new Uint8Array(asked.length);
    for (let i = 0; i < asked.length; i++) {
      const value = map.get(asked[i]);
      if (value === undefined) continue;
      values[i] = value;
      found[i] = 1;
    }
    return { values, found };
  };
  const close = () => {};
  return [
    { name: JS_MAP, fill: { call: filled }, find: ({ ids }) => find(ids), close },
    { name: BOXED, find: (question) => find(bigints.get(question) as bigint[]), close },
  ];
}

/** @throws EngineError where an answer is wrong. */
function check(operation: string, name: string, answer: Answer, { ids, values, found }: Question): void {
  const wrong = ids.findIndex((_, i) => answer.values[i] !== values[i] || answer.found[i] !== found[i]);
  if (wrong < 0) return;
  throw new EngineError(`ids: ${operation} on ${name} answers id ${ids[wrong]} with another row.`);
}
