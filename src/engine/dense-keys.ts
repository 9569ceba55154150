/**
 * When integer keys lie so close together that they index an array, in place of being hashed: the array then takes
 * about as much memory as the slots of a hash table would, and a look-up is one load. Every engine goes by this.
 */

/** Array elements per key at most. */
const ELEMENTS_PER_KEY = 4;

/** The longest range of so many keys, from the least to the greatest, that is dense. */
export function longestDenseRange(keys: number): number {
  return keys * ELEMENTS_PER_KEY;
}
