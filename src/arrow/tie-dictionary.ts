/** Tying batches of codes to their dictionaries. */
import type { Batch, Column } from "@uwdata/flechette";

/**
 * Gives a batch of codes its dictionary. As flechette's `setDictionary`, but for the values as JavaScript's: they are
 * made when somebody asks for one.
 */
export function tieDictionary(batch: Batch<unknown>, dictionary: Column<unknown>): void {
  Object.defineProperties(batch, {
    dictionary: { value: dictionary, enumerable: true, configurable: true },
    cache: { get: () => dictionary.cache(), configurable: true },
  });
}
