/** Checks a map key by key before it is timed: a fast wrong answer is worth nothing. Leaves the map full. */
import { type DeviceArray, EngineError, type StaticMap } from "../src/index.js";
import type { DeviceWorkload } from "./static-map-workload.js";

/** Elements that are on the host at once. */
const CHUNK = 2 ** 22;
/** Written for misses; not the library's own default. */
const MISSING = 0xabad1dea;

/**
 * Inserts, looks up what is there and what is not, retrieves, erases half, erases the rest, inserts over the tombstones, and
 * looks at every element of every answer. @throws EngineError for the first wrong one
 */
export async function checkMap(map: StaticMap, columns: DeviceWorkload): Promise<void> {
  const { keys, values, lookups, odd, workload } = columns;
  const { size } = workload;
  const oddKeys = Math.floor(size / 2);
  await map.clear();
  expectCounts("insert", await map.insert(keys, values), { inserted: size, existing: 0 });
  expectCounts("insert again", await map.insert(keys, values), { inserted: 0, existing: size });
  await expectFull(map, columns);
  expectCounts("erase half", await map.erase(lookups, { where: odd }), { erased: oddKeys });
  await expectPresent(map, columns, (number) => number % 2 === 0);
  expectCounts("erase all", await map.erase(lookups), { erased: size - oddKeys });
  expectCounts("after erase", { size: map.size }, { size: 0 });
  await expectPresent(map, columns, () => false);
  expectCounts("insert over tombstones", await map.insert(keys, values), { inserted: size, existing: 0 });
  await expectFull(map, columns);
}

async function expectFull(map: StaticMap, columns: DeviceWorkload): Promise<void> {
  expectCounts("size", { size: map.size }, { size: columns.workload.size });
  await expectPresent(map, columns, () => true);
  await expectAbsent(map, columns);
  await expectContents(map, columns);
}

function expectCounts<T extends Record<string, number>>(call: string, counts: T, expected: T): void {
  for (const name in expected) {
    if (counts[name] !== expected[name])
      throw wrong(`${call}: ${name} is ${counts[name]}, not ${expected[name]}`);
  }
}

/** Every looked-up key is found with its value, or not found, as `isThere` says of its number. */
async function expectPresent(
  map: StaticMap,
  { lookups, workload }: DeviceWorkload,
  isThere: (number: number) => boolean,
): Promise<void> {
  const { values, found } = await map.find(lookups, { output: "device", missing: MISSING });
  await eachChunk([values, found], (start, [value, flag]) => {
    for (let i = 0; i < value.length; i++) {
      const number = workload.lookedUpAt(start + i);
      const there = isThere(number);
      if (flag[i] === (there ? 1 : 0) && value[i] === (there ? number : MISSING)) continue;
      throw wrong(
        `find: key ${workload.keyOf(number)} (number ${number}) has found ${flag[i]}, value ${value[i]}`,
      );
    }
  });
}

async function expectAbsent(map: StaticMap, { absent, workload }: DeviceWorkload): Promise<void> {
  const { values, found } = await map.find(absent, { output: "device", missing: MISSING });
  await eachChunk([values, found], (start, [value, flag]) => {
    for (let i = 0; i < value.length; i++) {
      if (flag[i] === 0 && value[i] === MISSING) continue;
      throw wrong(`find: the absent key ${workload.keyOf(workload.size + start + i)} was found`);
    }
  });
}

/** retrieveAll answers every pair exactly once. */
async function expectContents(map: StaticMap, { workload }: DeviceWorkload): Promise<void> {
  const { keys, values } = await map.retrieveAll({ output: "device" });
  expectCounts("retrieveAll", { pairs: keys.length }, { pairs: workload.size });
  const seen = new Uint8Array(workload.size);
  await eachChunk([keys, values], (_, [key, number]) => {
    for (let i = 0; i < key.length; i++) {
      // as many pairs as keys, each right and none twice: they are all there
      if (key[i] !== workload.keyOf(number[i]) || seen[number[i]] !== 0) {
        throw wrong(`retrieveAll: the pair ${key[i]}, ${number[i]} was not inserted, or came twice`);
      }
      seen[number[i]] = 1;
    }
  });
}

/** Brings columns of one length to the host piece by piece, and destroys them. */
async function eachChunk(
  columns: readonly DeviceArray<"u32" | "u8">[],
  look: (start: number, pieces: (Uint32Array | Uint8Array)[]) => void,
): Promise<void> {
  const { length } = columns[0];
  try {
    for (let start = 0; start < length; start += CHUNK) {
      const end = Math.min(start + CHUNK, length);
      look(start, await Promise.all(columns.map((column) => column.read(start, end))));
    }
  } finally {
    for (const column of columns) column.destroy();
  }
}

function wrong(what: string): EngineError {
  return new EngineError(`static-map: ${what}.`);
}
