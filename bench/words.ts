/**
 * The benchmark words: counting words by string keys. A seeded generator writes a text of words drawn by Zipf's law; every contestant
 * gets it as an array of strings and counts how often each word comes: a DynamicMap of utf8 to u32 by insertOrApply, and a JS Map. The
 * strings are cut out of the text before each run, as a tokenizer would, so no string has a hash yet. Besides, the map takes the same
 * words as a column of bytes, which is how Arrow has them, and words are looked up.
 */
import { type Device, DynamicMap, EngineError, openDevice, ValidationError } from "../src/index.js";
import {
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  byDevice,
  circumstances,
  engineName,
} from "./report.js";
import { type TimedCall, type Timing, timeInTurn } from "./timing.js";
import { Random, Zipf } from "./zipf.js";

/** Different words per word of text: 4 million words have 200,000. */
const VOCABULARY = 1 / 20;
const LOOKED_UP = 1 / 4;
const RUNS = 5;
/** A JavaScript string has 2^29 code units at most. */
const MOST_WORDS = 2 ** 25;

type Counts = DynamicMap<"utf8", "u32">;

/** A text, and its words as bytes. */
interface Text {
  readonly text: string;
  readonly words: number;
  readonly column: { readonly offsets: Uint32Array; readonly bytes: Uint8Array };
}

/** `options.size`: words of the text. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const size = options.size ?? byDevice(device, { gpu: 4e6, cpu: 4e6, software: 2 ** 16 });
  if (!(Number.isInteger(size) && size >= 1 && size <= MOST_WORDS)) {
    throw new ValidationError(
      `words does not measure texts of ${size} words.`,
      `Give a whole number from 1 to ${MOST_WORDS}: the text is one JavaScript string.`,
    );
  }
  const runs = options.runs ?? RUNS;
  const where = circumstances(device);
  options.signal?.throwIfAborted();
  options.onProgress?.(`writing a text of ${size} words`);
  const text = writeText(size);
  const counted = countInMap(text.text.split(" "));
  const alone = device.backend === "cpu" && device.info.threads > 1;
  const single = alone ? await openDevice({ backend: "cpu", threads: 1 }) : null;
  try {
    const devices = single ? [device, single] : [device];
    for (const each of devices) await checkCounts(each, text, counted);
    options.onProgress?.("counting");
    const rows: BenchRow[] = [];
    const note = (operation: string, names: readonly string[], words: number, timings: readonly Timing[]) => {
      for (const [i, { median, fastest, runs }] of timings.entries()) {
        const rate = words / median / 1000;
        rows.push({
          operation,
          on: names[i],
          words,
          ms: median,
          "fastest ms": fastest,
          "M words/s": rate,
          runs,
        });
      }
    };
    const names = [...devices.map(engineName), "JS Map"];
    const repeats = { runs, leastTotalMs: 0 };
    const counting = [...devices.map((each) => timedCount(each, text)), timedMap(text)];
    note("count strings", names, size, await timeInTurn(counting, repeats));
    const columns = devices.map(
      (each): TimedCall => ({
        call: () => count(each, text.column, text.words),
        after: (counts: Counts) => counts.destroy(),
      }),
    );
    note("count a column of bytes", names, size, await timeInTurn(columns, repeats));
    options.signal?.throwIfAborted();
    options.onProgress?.("looking up");
    const asked = Math.max(1, Math.floor(size * LOOKED_UP));
    note("find strings", names, asked, await timeFinds(devices, text, counted, asked, repeats));
    return {
      bench: "words",
      state: "fresh table",
      ...where,
      parameters: {
        words: size,
        "different words": counted.size,
        "zipf exponent": 1,
        key: "utf8",
        value: "u32",
      },
      rows,
      notes: [
        "ms is the median wall time: of counting with making the map, from JavaScript strings (or bytes) to a map on the device; contestants take turns.",
        "Every count was compared with the JS Map's before it was timed.",
      ],
    };
  } finally {
    single?.destroy();
  }
}

/** Words of 1 to 14 letters, frequent ones shorter, as in natural languages. */
function writeText(words: number): Text {
  const random = new Random(7);
  const ranks = new Zipf(Math.max(1, Math.ceil(words * VOCABULARY)), 1, random);
  const vocabulary = new Map<number, string>();
  const drawn = Array.from({ length: words }, () => {
    const rank = ranks.next();
    let word = vocabulary.get(rank);
    if (word === undefined) {
      word = wordOf(rank);
      vocabulary.set(rank, word);
    }
    return word;
  });
  const offsets = new Uint32Array(words + 1);
  for (const [i, word] of drawn.entries()) offsets[i + 1] = offsets[i] + word.length;
  return {
    text: drawn.join(" "),
    words,
    column: { offsets, bytes: new TextEncoder().encode(drawn.join("")) },
  };
}

/** A word of its own for each rank: the rank in letters, and some more that depend on it. */
function wordOf(rank: number): string {
  let word = "";
  for (let left = rank; left > 0; left = Math.floor(left / 26)) word += String.fromCharCode(97 + (left % 26));
  return word + "etaoinshrdlu".slice(0, (rank * 7) % Math.max(1, Math.floor(Math.log2(rank + 1) / 2)));
}

function countInMap(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

async function count(
  device: Device,
  words: readonly string[] | Text["column"],
  length: number,
): Promise<Counts> {
  const counts = await DynamicMap.create(device, { key: "utf8", value: "u32" });
  await counts.insertOrApply(words, new Uint32Array(length).fill(1), "add");
  return counts;
}

function timedCount(device: Device, { text, words }: Text): TimedCall {
  let strings: string[] = [];
  return {
    before() {
      strings = text.split(" ");
    },
    call: () => count(device, strings, words),
    after: (counts: Counts) => counts.destroy(),
  };
}

function timedMap({ text }: Text): TimedCall {
  let strings: string[] = [];
  return {
    before() {
      strings = text.split(" ");
    },
    call: () => countInMap(strings),
  };
}

/** Finds the first words of the text, each contestant in a map of its own. */
async function timeFinds(
  devices: readonly Device[],
  text: Text,
  counted: ReadonlyMap<string, number>,
  asked: number,
  repeats: { runs: number; leastTotalMs: number },
): Promise<Timing[]> {
  const maps: Counts[] = [];
  let strings: string[] = [];
  const before = () => {
    strings = text.text.split(" ", asked);
  };
  try {
    for (const device of devices) maps.push(await count(device, text.column, text.words));
    const calls: TimedCall[] = maps.map((map) => ({ before, call: () => map.find(strings) }));
    const inMap = () => Uint32Array.from(strings, (word) => counted.get(word) ?? 0);
    return await timeInTurn([...calls, { before, call: inMap }], repeats);
  } finally {
    for (const map of maps) map.destroy();
  }
}

/** @throws EngineError where a word has another count than in the JS Map */
async function checkCounts(device: Device, text: Text, counted: ReadonlyMap<string, number>): Promise<void> {
  for (const words of [text.text.split(" "), text.column]) {
    using counts = await count(device, words, text.words);
    const { keys, values } = await counts.retrieveAll();
    let right = keys.length === counted.size;
    let i = 0;
    for (const word of keys) right &&= values[i++] === counted.get(word);
    const expected = [...counted.values()];
    const { values: found } = await counts.find([...counted.keys()]);
    right &&= found.every((value, k) => value === expected[k]);
    if (!right) throw new EngineError(`words: ${engineName(device)} counts other words than a JS Map.`);
  }
}
