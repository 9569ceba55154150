/**
 * Entries of keys that all come equally often, in an order that looks random and is known by arithmetic: so a GPU makes its columns itself,
 * and every element of an answer is checked where it lies. Entry i has the value i and the key mix(numberAt(i)). multimap.wgsl has the same
 * arithmetic.
 */
import { type Device, type DeviceArray, EngineError } from "../src/index.js";
import { openColumnKernels } from "./columns-gpu.js";
import { elementsOf } from "./kernel.js";
import { mix } from "./mix.js";
import source from "./multimap.wgsl";

type Column = DeviceArray<"u32">;

/** Parameters of multimap.wgsl. */
const PARAMS = ["size", "distinct", "bits", "isSet"] as const;

/** Steps of a walk; multimap.wgsl has as many. */
const MOST_STEPS = 128;

/** What is where. */
export class Entries {
  readonly distinct: number;
  /** Bits of a number below `size`. */
  readonly bits: number;

  /** @param size entries: 1 to 2^30. @param multiplicity entries of a key; one less for some where it does not divide `size`. */
  constructor(
    readonly size: number,
    readonly multiplicity: number,
  ) {
    this.distinct = Math.ceil(size / multiplicity);
    this.bits = Math.max(1, 32 - Math.clz32(size - 1));
  }

  /** The number of the key of an entry. */
  numberAt(i: number): number {
    const half = (this.bits + 1) >>> 1;
    const mask = 2 ** this.bits - 1;
    let x = i;
    for (let step = 0; step < MOST_STEPS; step++) {
      x = Math.imul(x ^ (x >>> half), 0x21f0aaad) & mask;
      x = Math.imul(x ^ (x >>> half), 0xd35a2d97) & mask;
      x ^= x >>> half;
      if (x < this.size) break;
    }
    return x % this.distinct;
  }

  /** Where the entries of a key begin when all of them lie in the order of the keys' numbers. */
  offsetOf(number: number): number {
    const { size, distinct } = this;
    return number * Math.floor(size / distinct) + Math.min(number, size % distinct);
  }

  /** Entries of a key. */
  countOf(number: number): number {
    return this.offsetOf(number + 1) - this.offsetOf(number);
  }
}

/** What `retrieve` of all distinct keys answered. */
export interface Retrieved {
  readonly offsets: Column;
  /** The values, or of a set the keys. */
  readonly entries: Column;
}

/** Columns of entries in the memory of a device, which the caller frees, and checks, which throw an EngineError for a wrong element. */
export interface DeviceEntries extends Disposable {
  /** Keys of the entries `first` to `first + count`. */
  keys(first?: number, count?: number): Promise<Column>;
  values(first?: number, count?: number): Promise<Column>;
  /** Each key once, in the order of their numbers. */
  distinctKeys(): Promise<Column>;
  /** The count of each entry's key. */
  checkCounts(counts: Column): Promise<void>;
  checkRetrieved(isSet: boolean, answer: Retrieved): Promise<void>;
}

/** Opens entries on a device. */
export function openEntries(device: Device, entries: Entries): Promise<DeviceEntries> {
  return device.gpuDevice ? openOnGpu(device, entries) : Promise.resolve(openOnHost(device, entries));
}

async function openOnGpu(device: Device, { size, distinct, bits }: Entries): Promise<DeviceEntries> {
  const kernels = await openColumnKernels(device, source, PARAMS, { size, distinct, bits });
  const judge = async (
    name: string,
    answer: Column,
    more: Parameters<typeof kernels.judge>[3] = {},
    isSet = false,
  ) => {
    const { wrong: number, first } = await kernels.judge(name, { isSet: Number(isSet) }, answer.length, {
      1: elementsOf(answer),
      ...more,
    });
    if (number > 0) throw wrong(name, first);
  };
  return {
    keys: (first = 0, count = size) => kernels.make("u32", "makeKeys", { first }, count),
    values: (first = 0, count = size) => kernels.make("u32", "makeNumbers", { first }, count),
    distinctKeys: () => kernels.make("u32", "makeDistinct", {}, distinct),
    checkCounts: (counts) => judge("checkCounts", counts),
    async checkRetrieved(isSet, { offsets, entries }) {
      checkLengths({ size, distinct }, { offsets, entries });
      await judge("checkOffsets", offsets);
      const seen = await device.allocate("u32", Math.ceil(size / 32));
      try {
        await judge("checkEntries", entries, { 5: elementsOf(seen) }, isSet);
      } finally {
        seen.destroy();
      }
    },
    [Symbol.dispose]: () => kernels.destroy(),
  };
}

function openOnHost(device: Device, entries: Entries): DeviceEntries {
  const { size, distinct } = entries;
  const column = (count: number, elementAt: (i: number) => number) => {
    const elements = new Uint32Array(count);
    for (let i = 0; i < count; i++) elements[i] = elementAt(i);
    return device.upload(elements);
  };
  return {
    keys: (first = 0, count = size) => column(count, (i) => mix(entries.numberAt(first + i))),
    values: (first = 0, count = size) => column(count, (i) => first + i),
    distinctKeys: () => column(distinct, mix),
    async checkCounts(answer) {
      const counts = await answer.read();
      for (let i = 0; i < size; i++) {
        if (counts[i] !== entries.countOf(entries.numberAt(i))) throw wrong("checkCounts", i);
      }
    },
    async checkRetrieved(isSet, answer) {
      checkLengths(entries, answer);
      const [offsets, found] = [await answer.offsets.read(), await answer.entries.read()];
      const seen = new Uint8Array(size);
      for (let number = 0; number < distinct; number++) {
        const end = entries.offsetOf(number + 1);
        if (offsets[number + 1] !== end) throw wrong("checkOffsets", number + 1);
        for (let i = entries.offsetOf(number); i < end; i++) {
          const isRight = isSet
            ? found[i] === mix(number)
            : entries.numberAt(found[i]) === number && seen[found[i]]++ === 0;
          if (!isRight) throw wrong("checkEntries", i);
        }
      }
    },
    [Symbol.dispose]() {},
  };
}

function checkLengths({ size, distinct }: { size: number; distinct: number }, answer: Retrieved): void {
  const [offsets, entries] = [answer.offsets.length, answer.entries.length];
  if (offsets === distinct + 1 && entries === size) return;
  throw new EngineError(`multimap: retrieved ${entries} entries by ${offsets} offsets.`);
}

const ANSWERS = { checkCounts: "count", checkOffsets: "retrieve, offset", checkEntries: "retrieve, entry" };

function wrong(check: string, place: number): EngineError {
  return new EngineError(`multimap: ${ANSWERS[check as keyof typeof ANSWERS]} ${place} is wrong.`);
}
