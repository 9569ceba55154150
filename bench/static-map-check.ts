/**
 * Checks a map key by key before it is timed: a fast wrong answer is worth nothing. Leaves the map full. Every element of
 * every answer is looked at, where the answer lies: on the host, or by kernels on a GPU.
 */
import { type BulkOptions, type DeviceArray, EngineError } from "../src/index.js";
import type { BenchMap, DeviceWorkload, KeyColumn, Width } from "./static-map-workload.js";
import type { Present } from "./workload-gpu.js";

/** Elements that are on the host at once. */
const CHUNK = 2 ** 22;
/** Written for misses; not the library's own default. workload.wgsl knows it too. */
export const MISSING = 0xabad1dea;
/** The same in a map of this type: of 64 bits both words. */
export const missingOf = (type: Width) => (type === "u64" ? 0xabad1deaabad1dean : MISSING) as never;

/** Options of every bulk call of a check: how a benchmark wants the map to work. */
export type CheckedCall = Pick<BulkOptions, "strategy" | "groupSize" | "onPlan">;

/**
 * Inserts, looks up what is there and what is not, retrieves, erases half, erases the rest, inserts over the tombstones, and
 * looks at every element of every answer. @throws EngineError for the first wrong one
 */
export async function checkMap<T extends Width>(
  map: BenchMap<T>,
  columns: DeviceWorkload<T>,
  options: CheckedCall = {},
): Promise<void> {
  const { size } = columns.workload;
  const [keys, values] = [await columns.keys(), await columns.values()];
  const [lookups, odd] = [await columns.lookups(), await columns.odd()];
  const oddKeys = Math.floor(size / 2);
  await map.clear();
  await checkInsert(map, columns, options);
  const again = await map.insert(keys, values, options);
  expectCounts("insert again", again, { inserted: 0, existing: size });
  await expectFull(map, columns, options);
  expectCounts("erase half", await map.erase(lookups, { ...options, mask: odd }), { erased: oddKeys });
  await expectFound(map, columns, "lookups", "even", options);
  expectCounts("erase all", await map.erase(lookups, options), { erased: size - oddKeys });
  expectCounts("after erase", { size: map.size }, { size: 0 });
  await expectFound(map, columns, "lookups", "none", options);
  await checkInsert(map, columns, options);
  await expectFull(map, columns, options);
}

/** Inserts all keys into a map without any, and looks all of them up. Quicker than checkMap. */
export async function checkFilled<T extends Width>(
  map: BenchMap<T>,
  columns: DeviceWorkload<T>,
  options: CheckedCall = {},
): Promise<void> {
  await map.clear();
  await checkInsert(map, columns, options);
  await expectFull(map, columns, options);
}

async function checkInsert<T extends Width>(
  map: BenchMap<T>,
  columns: DeviceWorkload<T>,
  options: CheckedCall,
): Promise<void> {
  const counts = await map.insert(await columns.keys(), await columns.values(), options);
  expectCounts("insert", counts, { inserted: columns.workload.size, existing: 0 });
}

async function expectFull<T extends Width>(
  map: BenchMap<T>,
  columns: DeviceWorkload<T>,
  options: CheckedCall,
): Promise<void> {
  expectCounts("size", { size: map.size }, { size: columns.workload.size });
  for (const column of ["lookups", "absent", "half"] as const) {
    await expectFound(map, columns, column, "all", options);
  }
  await expectContents(map, columns);
}

function expectCounts<T extends object>(call: string, counts: T, expected: T): void {
  for (const name in expected) {
    if (counts[name] !== expected[name])
      throw wrong(`${call}: ${name} is ${counts[name]}, not ${expected[name]}`);
  }
}

/** Every key of a column is found with its value, or not found, as its number says. */
async function expectFound<T extends Width>(
  map: BenchMap<T>,
  columns: DeviceWorkload<T>,
  column: Exclude<KeyColumn, "keys">,
  present: Present,
  options: CheckedCall,
): Promise<void> {
  const answer = await map.find(await columns[column](), {
    ...options,
    output: "device",
    missing: missingOf(columns.workload.type),
  });
  try {
    await checkFound(columns, column, present, answer);
  } finally {
    for (const array of [answer.values, answer.found]) array.destroy();
  }
}

/** Looks at every element of what a find of a column answered, with MISSING for misses. @throws EngineError for the first wrong one */
export async function checkFound<T extends Width>(
  { workload, gpu }: DeviceWorkload<T>,
  column: Exclude<KeyColumn, "keys">,
  present: Present,
  answer: { values: DeviceArray<T>; found: DeviceArray<"u8"> },
): Promise<void> {
  const complain = (i: number) => {
    const number = workload.numberAt(column, i);
    return wrong(`find: key ${workload.keyOf(number)} (number ${number} of ${column}) was answered wrongly`);
  };
  if (gpu) {
    const verdict = await gpu.checkFound(column, present, answer);
    if (verdict.wrong > 0) throw complain(verdict.first);
    return;
  }
  const isThere = (number: number) =>
    number < workload.size && (present === "all" || (present === "even" && number % 2 === 0));
  await eachChunk([answer.values, answer.found], (start, [value, flag]) => {
    for (let i = 0; i < flag.length; i++) {
      const number = workload.numberAt(column, start + i);
      const there = isThere(number);
      const isRight = there ? workload.isValue(value, i, number) : isMissing(value, i, workload.words);
      if (flag[i] !== Number(there) || !isRight) throw complain(start + i);
    }
  });
}

/** retrieveAll answers every pair exactly once. */
async function expectContents<T extends Width>(
  map: BenchMap<T>,
  { workload, gpu }: DeviceWorkload<T>,
): Promise<void> {
  const answer = await map.retrieveAll({ output: "device" });
  try {
    expectCounts("retrieveAll", { pairs: answer.keys.length }, { pairs: workload.size });
    const complain = () => wrong("retrieveAll: a pair was not inserted, or came twice");
    if (gpu) {
      const verdict = await gpu.checkPairs(answer);
      if (verdict.wrong > 0) throw complain();
      return;
    }
    const seen = new Uint8Array(workload.size);
    await eachChunk([answer.keys, answer.values], (_, [key, number]) => {
      for (let i = 0; i * workload.words < key.length; i++) {
        const n = number[i * workload.words];
        // as many pairs as keys, each right and none twice: they are all there
        if (!workload.isKey(key, i, n) || !workload.isValue(number, i, n) || seen[n] !== 0) throw complain();
        seen[n] = 1;
      }
    });
  } finally {
    for (const array of [answer.keys, answer.values]) array.destroy();
  }
}

/** Whether there is what is written for misses at a place of a column, given as words. */
function isMissing(words: Uint32Array, place: number, ofElement: 1 | 2): boolean {
  return words[place * ofElement] === MISSING && words[(place + 1) * ofElement - 1] === MISSING;
}

/** Brings columns of one length to the host piece by piece, as words or bytes. */
async function eachChunk(
  columns: readonly DeviceArray<Width | "u8">[],
  look: (start: number, pieces: Uint32Array[]) => void,
): Promise<void> {
  const { length } = columns[0];
  for (let start = 0; start < length; start += CHUNK) {
    const end = Math.min(start + CHUNK, length);
    look(start, await Promise.all(columns.map(async (column) => wordsIn(await column.read(start, end)))));
  }
}

function wrong(what: string): EngineError {
  return new EngineError(`The map under test is wrong. ${what}.`);
}

/** The words of elements; flags as they are. */
function wordsIn(elements: Uint8Array | Uint32Array | BigUint64Array): Uint32Array {
  if (!(elements instanceof BigUint64Array)) return elements as Uint32Array;
  return new Uint32Array(elements.buffer, elements.byteOffset, elements.length * 2);
}
