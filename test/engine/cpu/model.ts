/**
 * A Map that answers as the cpu engine must: it goes through a batch in input order. `slots` is all it knows
 * of a table: a key finds no place when as many others are there, the two sentinel patterns aside.
 */
import { combine, ruleOf } from "../../../src/engine/apply.js";
import type { InsertPolicy } from "../../../src/engine/engine.js";
import { canonicalF32 } from "../../../src/engine/float-keys.js";
import type { TableSpec } from "../../../src/engine/layout.js";

export interface Batch {
  readonly keys: Uint32Array;
  readonly values: Uint32Array;
  readonly where: Uint8Array | undefined;
}

export interface InsertAnswer {
  inserted: number;
  existing: number;
  rejected: number;
  flags: Uint8Array;
  stored: Uint32Array;
}

export class Model {
  readonly entries = new Map<number, number>();
  readonly #spec: TableSpec;

  constructor(spec: TableSpec) {
    this.#spec = spec;
  }

  insert({ keys, values, where }: Batch, policy: InsertPolicy): InsertAnswer {
    const rule = ruleOf(policy, this.#spec.value);
    const answer = {
      inserted: 0,
      existing: 0,
      rejected: 0,
      flags: new Uint8Array(keys.length),
      stored: new Uint32Array(keys.length),
    };
    for (let i = 0; i < keys.length; i++) {
      if (where?.[i] === 0) continue;
      const key = this.#stored(keys[i]);
      const old = this.entries.get(key);
      const incoming = this.#spec.value === null ? 0 : values[i];
      if (old !== undefined) {
        answer.existing++;
        this.entries.set(key, combine(rule, old, incoming));
      } else if (key < 0xfffffffe && this.#mainSize() === this.#spec.slots) {
        answer.rejected++;
        continue;
      } else {
        answer.inserted++;
        answer.flags[i] = 1;
        this.entries.set(key, incoming);
      }
      answer.stored[i] = this.entries.get(key)!;
    }
    return answer;
  }

  /** A set's values are its keys. */
  find({ keys, where }: Batch, missing: number): { found: Uint8Array; values: Uint32Array } {
    const found = new Uint8Array(keys.length);
    const values = new Uint32Array(keys.length).fill(missing);
    for (let i = 0; i < keys.length; i++) {
      const key = this.#stored(keys[i]);
      const value = this.entries.get(key);
      if (where?.[i] === 0 || value === undefined) continue;
      found[i] = 1;
      values[i] = this.#spec.value === null ? key : value;
    }
    return { found, values };
  }

  erase({ keys, where }: Batch): number {
    let erased = 0;
    for (let i = 0; i < keys.length; i++) {
      if (where?.[i] !== 0 && this.entries.delete(this.#stored(keys[i]))) erased++;
    }
    return erased;
  }

  #stored(key: number): number {
    return this.#spec.key === "f32" ? canonicalF32(key) : key;
  }

  #mainSize(): number {
    return this.entries.size - Number(this.entries.has(0xffffffff)) - Number(this.entries.has(0xfffffffe));
  }
}
