/** What `rehash` makes of its options, when its turn has come. */
import { ValidationError } from "../errors.js";
import type { RehashOptions } from "./container.js";
import { type ContainerSpec, checkSizing, withHash } from "./create-table.js";

/** @throws ValidationError */
export async function newSize(
  now: { readonly capacity: number; readonly size: number; readonly maxLoadFactor: number },
  spec: ContainerSpec,
  { capacity, seed }: RehashOptions,
): Promise<{ entries: number; seed: number | undefined }> {
  const { maxLoadFactor, size } = now;
  // a table may hold more than its capacity promised: its slots allow it
  const entries = capacity ?? Math.max(now.capacity, size);
  checkSizing({ capacity: entries, maxLoadFactor });
  if (entries < size) {
    throw new ValidationError(
      `rehash(${entries}) cannot hold the ${size} entries.`,
      "Give a capacity of at least size, or erase first.",
    );
  }
  return { entries, seed: (await withHash(spec as never, seed)).seed };
}
