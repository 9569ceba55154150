/** The loops over wide slots, for formats that no scalar type has yet: keys of up to 8 words, values of up to 16. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import { newTally, type Territory } from "../../../../src/engine/cpu/table/probes.js";
import { collectSide } from "../../../../src/engine/cpu/table/scan.js";
import { WideLoops } from "../../../../src/engine/cpu/table/wide-loops.js";
import { hashNames } from "../../../../src/engine/hash-names.js";
import type { SlotFormat } from "../../../../src/engine/slot-format.js";
import { checkWideTable } from "../../../helpers/check-wide-table.js";
import { rounds } from "../../../helpers/rounds.js";

/** A format by the words of its key and value, as slot-format.ts lays it out. */
function formatOf(keyWords: number, valueWords: number): SlotFormat {
  const isRow = keyWords > 1;
  const keyOffset = isRow ? 1 : 0;
  const valueOffset = keyOffset + keyWords;
  const claim = isRow ? "row" : "key";
  return {
    keyWords,
    valueWords,
    claim,
    slotWords: valueOffset + valueWords,
    keyOffset,
    valueOffset,
    keyScalars: new Array(keyWords).fill("u32"),
    keyFloats: [],
    valueScalars: new Array(valueWords).fill("u32"),
    sideSlots: isRow ? 0 : 2,
  };
}

/** Keys and values in words, one array each; a key's words decide on it as text. */
type Words = readonly number[];

/** A column for each word. */
const columnsOf = (elements: readonly Words[], words: number) =>
  Array.from({ length: words }, (_, word) => Uint32Array.from(elements, (element) => element[word]));

/** A table with nothing around it but its counts, and what a Map would hold. */
class BareTable {
  readonly at: Territory;
  readonly model = new Map<string, string>();
  readonly loops: WideLoops;

  constructor(
    readonly format: SlotFormat,
    readonly slotCount: number,
    readonly hash: number,
    readonly seed = 0,
  ) {
    const words = format.slotWords;
    const slots = new Uint32Array((slotCount + format.sideSlots) * words).fill(0xffffffff);
    const table = { slots, slotCount, words, hash, seed, floatKeys: false };
    const counters = { mainLive: 0, sideLive: 0, tombstones: 0, maxProbe: 0 };
    this.at = { table, counters, tally: newTally(), deferred: null };
    this.loops = new WideLoops(format);
  }

  chunk(keys: readonly Words[]) {
    return { keys: columnsOf(keys, this.format.keyWords), where: null, from: 0, to: keys.length };
  }

  /** Inserts in input order; answers how many were rejected. */
  insert(keys: readonly Words[], values: readonly Words[]): void {
    const columns = {
      values: columnsOf(values, this.format.valueWords),
      rule: 0,
      flags: new Uint8Array(0),
      stored: [],
      rejected: new Uint8Array(0),
    };
    const before = { ...this.at.tally };
    this.loops.insert(this.at, columns).alone(this.chunk(keys));
    let [inserted, existing, rejected] = [0, 0, 0];
    keys.forEach((key, i) => {
      const isSide = this.format.sideSlots > 0 && key[0] >= 0xfffffffe;
      if (this.model.has(key.join())) existing++;
      else if (!isSide && this.inSlots === this.slotCount) rejected++;
      else {
        this.model.set(key.join(), values[i].join());
        inserted++;
      }
    });
    const { tally } = this.at;
    expect(tally.inserted - before.inserted).toBe(inserted);
    expect(tally.existing - before.existing).toBe(existing);
    expect(tally.rejected - before.rejected).toBe(rejected);
  }

  erase(keys: readonly Words[]): void {
    const before = this.at.tally.erased;
    this.loops.erase(this.at).alone(this.chunk(keys));
    const gone = keys.filter((key) => this.model.delete(key.join()));
    expect(this.at.tally.erased - before).toBe(gone.length);
  }

  find(keys: readonly Words[]): void {
    const { keyWords, valueWords } = this.format;
    const words = valueWords || keyWords;
    const missing = Array.from({ length: words }, (_, i) => 1000 + i);
    const found = new Uint8Array(keys.length);
    const values = missing.map(() => new Uint32Array(keys.length));
    const { table, counters } = this.at;
    this.loops
      .find(table, counters.maxProbe, { found, values, missing: missing.map((word) => [word]) })
      .alone(this.chunk(keys));
    keys.forEach((key, i) => {
      const stored = this.model.get(key.join());
      expect(found[i]).toBe(Number(stored !== undefined));
      const expected = stored === undefined ? missing.join() : valueWords === 0 ? key.join() : stored;
      expect(values.map((column) => column[i]).join()).toBe(expected);
    });
  }

  /** The layout, retrieveAll and the statistics say what the model says. */
  check(): void {
    const { table, counters } = this.at;
    const { format, slotCount } = this;
    const { keyWords, valueWords } = format;
    const entries = checkWideTable({ ...table, format, hash: hashNames[this.hash] }, counters);
    expect(entries).toEqual(this.model);
    const size = this.model.size;
    const into = {
      keys: Array.from({ length: keyWords }, () => new Uint32Array(size)),
      values: Array.from({ length: valueWords }, () => new Uint32Array(size)),
      count: 0,
    };
    collectSide(table, format, into);
    this.loops.collectSlots(table, 0, slotCount, into);
    expect(into.count).toBe(size);
    for (let i = 0; i < size; i++) {
      const key = into.keys.map((column) => column[i]).join();
      expect(into.values.map((column) => column[i]).join()).toBe(this.model.get(key));
    }
    const measurement = this.loops.measurement(table);
    measurement.addSlots(0, slotCount);
    const counted = measurement.counters();
    expect({ ...counted, maxProbe: counters.maxProbe }).toEqual(counters);
    expect(counted.maxProbe).toBeLessThanOrEqual(counters.maxProbe);
    expect(measurement.result().live).toBe(size);
  }

  get inSlots(): number {
    if (this.format.sideSlots === 0) return this.model.size;
    return [...this.model.keys()].filter((key) => Number(key) < 0xfffffffe).length;
  }
}

const formats = [
  [1, 2],
  [1, 16],
  [2, 0],
  [2, 2],
  [3, 1],
  [4, 4],
  [8, 0],
  [8, 16],
];

describe("random operations equal a plain Map's, slot by slot", () => {
  for (const [keyWords, valueWords] of formats) {
    it(`keys of ${keyWords} words, values of ${valueWords}`, () => {
      const format = formatOf(keyWords, valueWords);
      // few words, so that keys meet again and differ in one place only
      const word = fc.constantFrom(0, 1, 0x80000000, 0xfffffffd, 0xfffffffe, 0xffffffff);
      const key = fc.array(word, { minLength: keyWords, maxLength: keyWords });
      const value = fc.array(fc.nat(9), { minLength: valueWords, maxLength: valueWords });
      const element = fc.record({ key, value, isAgain: fc.nat(3) });
      const step = fc.record({
        call: fc.constantFrom("insert", "insert", "erase", "find"),
        elements: fc.array(element, { maxLength: 16 }),
      });
      const spec = fc.record({
        slots: fc.integer({ min: 1, max: 20 }),
        hash: fc.nat(hashNames.length - 1),
        seed: fc.constantFrom(0, 0, 0x12345678),
      });
      fc.assert(
        fc.property(spec, fc.array(step, { maxLength: 8 }), ({ slots, hash, seed }, steps) => {
          const table = new BareTable(format, slots, hash, seed);
          const seen: Words[] = [];
          for (const { call, elements } of steps) {
            // most keys are ones that were there before
            const keys = elements.map(({ key, isAgain }, i) => (isAgain && seen[i]) || key);
            seen.unshift(...keys);
            if (call === "insert")
              table.insert(
                keys,
                elements.map(({ value }) => value),
              );
            else table[call](keys);
            table.check();
          }
        }),
        { numRuns: rounds(120) },
      );
    });
  }
});

describe("a full table with long probes", () => {
  for (const [keyWords, valueWords] of [
    [1, 2],
    [2, 2],
  ]) {
    it(`of keys of ${keyWords} words rejects what it lacks and knows what it has`, () => {
      const slots = 700;
      const table = new BareTable(formatOf(keyWords, valueWords), slots, hashNames.indexOf("identity"));
      // keys of 64 bits have equal low words here, those of 32 follow each other: one home slot for all
      const keys = Array.from({ length: 900 }, (_, i) => (keyWords === 1 ? [i] : [5, i]));
      const values = keys.map((_, i) => [i, i + 1]);
      table.insert(keys, values);
      expect(table.at.counters.maxProbe).toBeGreaterThan(600);
      table.insert(keys.toReversed(), values);
      table.find(keys);
      table.check();
      if (keyWords === 1)
        table.insert(
          [[0xffffffff], [0xfffffffe], [1000]],
          [
            [1, 1],
            [2, 2],
            [3, 3],
          ],
        );
      table.erase(keys.slice(100, 103));
      table.insert(keys.slice(690), values.slice(690));
      table.find(keys);
      table.check();
    });
  }
});

describe("an engine's table of wide slots", () => {
  it("is worked on by one thread, in chunks, and says so", async () => {
    const engine = await openCpuEngine({ threads: 2, tuning: { chunk: 64, lookUpFrom: 1, changeFrom: 1 } });
    const table = await engine.createTable({ key: "u64", value: "u64", slots: 5000, hash: "murmur3" });
    const keys = BigUint64Array.from({ length: 1000 }, (_, i) => BigInt(i) << 20n);
    const told: number[] = [];
    const reasons: string[] = [];
    const log = {
      beginChunk: ({ strategy, reason }: { strategy: string; reason: string }) =>
        void reasons.push(`${strategy}: ${reason}`),
      add: () => {},
    };
    const stop = new AbortController();
    const call = { log: log as never, onProgress: (done: number) => void told.push(done) };
    expect(await table.insert(keys, keys, "keep", call)).toMatchObject({ inserted: 1000 });
    expect(told).toEqual(Array.from({ length: 16 }, (_, i) => Math.min(1000, 64 * (i + 1))));
    expect(new Set(reasons)).toEqual(
      new Set(["direct: keys or values of more than 32 bits are worked on by one thread"]),
    );
    const aborted = table.erase(keys, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(aborted).rejects.toThrow(/abort/i);
    expect(table.live).toBe(936);
    engine.destroy();
  });
});
