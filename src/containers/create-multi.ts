/** How multimaps and multisets are made: their options, the checks of these, and the empty index. */
import type { Device } from "../device.js";
import { hashNames } from "../engine/hash-names.js";
import { type BasicType, basicTypes } from "../engine/scalars.js";
import { LimitError } from "../errors.js";
import { checkCallbacks, checkOneOf, checkOptions, checkWhole } from "../options.js";
import { untilAborted } from "../until-aborted.js";
import {
  checkBytes,
  checkDevice,
  checkSizing,
  type HashOptions,
  type Seed,
  type TableOptions,
  withHash,
} from "./create-table.js";
import { MultiIndex, type MultiSizing } from "./multi-index.js";

/** Options that size and shape a multimap or a multiset. */
export interface MultiOptions<K extends BasicType> extends Omit<TableOptions<K>, "capacity"> {
  /** Entries that fit; equal ones count each time. A whole number of at least 0. */
  capacity: number;
  /** Distinct keys that are guaranteed to fit. Default `capacity`; less saves memory where keys have many entries. */
  keyCapacity?: number;
}

/** An empty index of a multimap, or of a multiset, which has no values. @internal */
export async function createMulti<K extends BasicType, V extends BasicType>(
  kind: "multimap" | "multiset",
  device: Device,
  options: MultiOptions<K> & { value?: V },
): Promise<MultiIndex<K, V>> {
  checkDevice(device);
  const { types, sizing, slots, seed } = checkMulti(kind, options);
  const create = async () => {
    const { hash } = sizing.hashing;
    const hashing = await withHash({ key: types.key, value: "u32", slots, hash }, seed);
    const sized = { ...sizing, hashing: { hash: hashing.hash, seed: hashing.seed } };
    return MultiIndex.create<K, V>(device.engine, types as { key: K; value: V | null }, sized);
  };
  return untilAborted(options.signal, create, (index) => index.destroy());
}

/** An index with the entries of `toBytes`. @internal */
export async function multiFromBytes<K extends BasicType, V extends BasicType>(
  kind: "multimap" | "multiset",
  device: Device,
  bytes: Uint8Array,
  options: HashOptions,
): Promise<MultiIndex<K, V>> {
  checkDevice(device);
  checkOptions(options, "hash seed");
  checkBytes(bytes);
  const { unpackMulti } = await import("./multi-bytes.js");
  const create = (shape: MultiOptions<BasicType>) =>
    createMulti<K, V>(kind, device, shape as MultiOptions<K>);
  return unpackMulti<K, V>(kind, bytes, options, { check: checkMulti, create });
}

/** Checks all options. @internal */
export function checkMulti(
  kind: "multimap" | "multiset",
  options: MultiOptions<BasicType> & { value?: BasicType },
): {
  types: { key: BasicType; value: BasicType | null };
  sizing: MultiSizing;
  /** Of the table of keys. */
  slots: number;
  seed: Seed | undefined;
} {
  const isMap = kind === "multimap";
  checkOptions(options, `key ${isMap ? "value " : ""}capacity keyCapacity maxLoadFactor hash seed signal`);
  checkCallbacks({ signal: options.signal });
  const { key, value, capacity, keyCapacity = capacity, hash = "murmur3", seed } = options;
  checkOneOf("key type", key, basicTypes);
  if (isMap) checkOneOf("value type", value, basicTypes);
  checkWhole("capacity", capacity);
  checkWhole("keyCapacity", keyCapacity);
  if (capacity > MOST_ENTRIES) {
    throw new LimitError("entries", capacity, MOST_ENTRIES, "Split the data over several containers.");
  }
  const { maxLoadFactor: load } = options;
  const { slots, maxLoadFactor } = checkSizing({ capacity: keyCapacity, maxLoadFactor: load });
  if (typeof hash !== "object") checkOneOf("hash function", hash, hashNames);
  return {
    types: { key, value: isMap ? (value as BasicType) : null },
    sizing: { capacity, keyCapacity, maxLoadFactor, hashing: { hash } },
    slots,
    seed,
  };
}

/** Places of entries have 31 bits, and half as many again are in use at most. */
const MOST_ENTRIES = 2 ** 30;
