/**
 * The seed of hashes that no result shows: of rows, and of strings in dictionaries. A process draws one, so that keys
 * that meet in one place of a hash table cannot be computed beforehand. `openDevice({ seed })` gives a device another
 * one.
 */
let drawn: number | undefined;

/** 32 random bits, the same for as long as the process, page or worker runs. */
export function processSeed(): number {
  drawn ??= crypto.getRandomValues(new Uint32Array(1))[0];
  return drawn;
}
