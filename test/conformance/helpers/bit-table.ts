/** Maps and sets behind one face that takes and gives bit patterns, for tests that treat them alike. */
import type { MapContainer } from "../../../src/containers/map-container.js";
import type { SetContainer } from "../../../src/containers/set-container.js";
import { asBits, type Scalar, type ScalarArrays } from "../../../src/engine/scalars.js";
import type { ApplyOp } from "../../../src/index.js";
import { fromBits } from "./keys.js";

export type AnyMap = MapContainer<Scalar, Scalar>;
export type AnySet = SetContainer<Scalar>;
/** What an insert does with a key that is there: keep its value (insert), assign, or combine. */
export type Policy = "keep" | "assign" | ApplyOp;

type Bits = Uint32Array;
type Mask = Uint8Array | undefined;

export interface BitTable {
  readonly table: AnyMap | AnySet;
  /** null for a set, which acts as a map from each key to itself. */
  readonly valueType: Scalar | null;
  insert(
    policy: Policy,
    keys: Bits,
    values: Bits,
    where: Mask,
  ): Promise<{ inserted: number; existing: number }>;
  insertAndFind(
    keys: Bits,
    values: Bits,
    where: Mask,
  ): Promise<{ inserted: number; existing: number; isNew: Uint8Array; values: Bits | null }>;
  find(keys: Bits, missing: number, where: Mask): Promise<{ found: Uint8Array; values: Bits }>;
}

export function bitMap(map: AnyMap): BitTable {
  const pairs = (keys: Bits, values: Bits) =>
    [fromBits(map.keyType, keys), fromBits(map.valueType, values)] as const;
  return {
    table: map,
    valueType: map.valueType,
    async insert(policy, keys, values, where) {
      if (policy === "keep") return map.insert(...pairs(keys, values), { mask: where });
      if (policy === "assign") {
        const { inserted, assigned } = await map.insertOrAssign(...pairs(keys, values), { mask: where });
        return { inserted, existing: assigned };
      }
      const { inserted, applied } = await map.insertOrApply(...pairs(keys, values), policy, { mask: where });
      return { inserted, existing: applied };
    },
    async insertAndFind(keys, values, where) {
      const result = await map.insertAndFind(...pairs(keys, values), { mask: where });
      return { ...result, values: asBits(result.values as ScalarArrays[Scalar]) };
    },
    async find(keys, missing, where) {
      const { found, values } = await map.find(fromBits(map.keyType, keys), { missing, mask: where });
      return { found, values: asBits(values as ScalarArrays[Scalar]) };
    },
  };
}

export function bitSet(set: AnySet): BitTable {
  const typed = (keys: Bits) => fromBits(set.keyType, keys);
  return {
    table: set,
    valueType: null,
    insert: (_policy, keys, _values, where) => set.insert(typed(keys), { mask: where }),
    async insertAndFind(keys, _values, where) {
      return { ...(await set.insertAndFind(typed(keys), { mask: where })), values: null };
    },
    async find(keys, missing, where) {
      const result = await set.find(typed(keys), { missing, mask: where });
      return { found: result.found, values: asBits(result.keys as ScalarArrays[Scalar]) };
    },
  };
}
