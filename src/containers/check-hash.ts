/**
 * Checks of the options `hash` and `seed`, loaded with the first table that has a seed or a hash function of the user's
 * own.
 */
import { type HashName, NO_SEED, type OwnHash } from "../engine/hash-names.js";
import type { TableSpec } from "../engine/layout.js";
import { checkOwnHash } from "../engine/own-hash.js";
import { slotFormat } from "../engine/slot-format.js";
import { ValidationError } from "../errors.js";
import type { Seed } from "./create-table.js";

/** The specification with the seed that was asked for. @throws ValidationError */
export function checkHash(spec: TableSpec, seed?: Seed): TableSpec {
  const { hash } = spec;
  if (typeof hash !== "string") checkOwnHash(hash, slotFormat(spec).keyWords);
  return seed === undefined ? spec : { ...spec, seed: checkSeed(hash, seed) };
}

/** The seed that was asked for. @throws ValidationError */
export function checkSeed(hash: HashName | OwnHash, seed: Seed): number {
  const [number] = seed === "random" ? crypto.getRandomValues(Uint32Array.of(0)) : [seed];
  if (number !== number >>> 0) {
    throw new ValidationError(
      `seed is ${JSON.stringify(seed) ?? String(seed)}.`,
      'Give a whole number from 0 to 2^32 - 1, or "random".',
    );
  }
  if (hash === "identity" && seed !== NO_SEED) {
    throw new ValidationError("The hash function identity takes no seed.", "Use another hash function.");
  }
  // 0 would be none
  return seed === "random" ? number || 1 : number;
}
