/** The loop of every bulk call: chunk after chunk, with abort before, pace and progress after each. */
import type { CallOptions } from "../engine.js";
import type { Chunk } from "./columns.js";
import type { Pacer } from "./pacer.js";

/** What limits a chunk besides its time. */
export interface ChunkLimits {
  /** Name under which the speed of the operation is remembered. */
  operation: string;
  /** Elements that fit one binding. */
  bindable: number;
  /** True when inputs or results cross the bus: shorter chunks keep the staging memory small. */
  staged: boolean;
  /** Elements that a chunk has at least, as far as there are so many and they fit. */
  least?: number;
}

/** Elements of a chunk whose columns pass through staging buffers: 16 MiB per 4-byte column. */
const STAGED_CHUNK = 2 ** 22;

export async function forEachChunk(
  pacer: Pacer,
  limits: ChunkLimits,
  total: number,
  call: CallOptions,
  run: (chunk: Chunk) => Promise<void>,
): Promise<void> {
  call.signal?.throwIfAborted();
  const most = Math.min(
    Math.floor(limits.bindable / 1024) * 1024,
    limits.staged ? STAGED_CHUNK : Number.POSITIVE_INFINITY,
  );
  for (let first = 0; first < total; ) {
    call.signal?.throwIfAborted();
    const paced = Math.max(pacer.next(limits.operation), limits.least ?? 0);
    const count = Math.min(total - first, most, paced);
    const start = performance.now();
    await run({ first, count });
    pacer.took(limits.operation, count, performance.now() - start);
    first += count;
    if (first < total) call.onProgress?.(first, total);
  }
  call.onProgress?.(total, total);
}
