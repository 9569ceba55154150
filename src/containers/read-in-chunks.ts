/** Brings device arrays to the host a chunk at a time, so that visiting a table never needs a whole copy on the host. */
import type { DeviceArray } from "../engine/device-array.js";
import type { ScalarArrays, ScalarType } from "../engine/scalars.js";

/** Elements of each column that are on the host at once, unless told. */
const CHUNK = 1 << 20;

/** Yields equally long pieces of columns of one length, and destroys the columns at the end, also after a break or throw. */
export async function* readInChunks<T extends ScalarType>(
  columns: readonly DeviceArray<T>[],
  chunk = CHUNK,
): AsyncGenerator<ScalarArrays[T][]> {
  try {
    const length = columns[0].length;
    for (let start = 0; start < length; start += chunk) {
      const end = Math.min(start + chunk, length);
      yield await Promise.all(columns.map((column) => column.read(start, end)));
    }
  } finally {
    for (const column of columns) column.destroy();
  }
}
