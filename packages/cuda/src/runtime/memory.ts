/**
 * Where memory comes from. The GPU's: by the driver's pool, in the order of the stream, so that neither allocating nor
 * freeing waits. The host's that the GPU reads and writes by itself: ArrayBuffers, whose pages are registered with the
 * driver. They stay JavaScript's, so that an array which is read after its device is gone reads memory that is there.
 */
import { type BufferSource, type GpuBuffer, GpuMemory, type Range } from "warpmap/engine";
import type { CudaContext } from "../driver/context.js";
import { readNumber } from "../driver/driver.js";
import { REGISTER_PORTABLE } from "../driver/ffi.js";

/** What `Wanted.usage` is for pinned memory of the host; memory of the GPU has none. */
export const PINNED = 1;
/** Bytes of a page: what is registered is no one else's. */
const PAGE = 4096;

export class CudaBuffer implements GpuBuffer {
  constructor(
    readonly size: number,
    readonly address: number,
    /** The memory, where it is the host's. */
    readonly host?: Uint8Array<ArrayBuffer>,
  ) {}
}

/** The memory of all buffers that are pinned. */
const pinnedMemory = new WeakSet<ArrayBufferLike>();
/** True for views of pinned memory, which the GPU reads in its own time. */
export const isPinned = ({ buffer }: ArrayBufferView): boolean => pinnedMemory.has(buffer);

export const native = (buffer: GpuBuffer): CudaBuffer => buffer as CudaBuffer;

export const addressOf = ({ buffer, offset = 0 }: Range): number => native(buffer).address + offset;

/** What GpuMemory allocates by. @param most bytes of the largest buffer */
export function bufferSource(context: CudaContext, most: number): BufferSource {
  const { api, stream } = context;
  return {
    maxBuffer: most,
    checkAlive: () => context.checkAlive(),
    guard: (promise) => context.guard(promise),
    async idle() {
      await context.arrived("Waiting for the GPU");
      // gives what was freed back to the system: another process may need it
      context.check("Waiting for the GPU", api.cuStreamSynchronize(stream));
    },
    async allocate(label, size, usage, made) {
      context.enter();
      const buffer = usage === PINNED ? pinned(context, label, size) : onGpu(context, label, size);
      if (buffer) made(buffer);
      return buffer;
    },
    free(buffer) {
      const { address, host } = native(buffer);
      if (context.isLost) return;
      context.enter();
      if (host) api.cuMemHostUnregister(address);
      else api.cuMemFreeAsync(address, stream);
    },
  };
}

type Acquire = Parameters<GpuMemory["acquire"]>;

/**
 * Memory of a lane: the GPU's, of which buffers that are given back here are only taken here again, so that nothing
 * waits for work of the other stream. Who gives them back knows that no other stream works on them. Only `acquire`,
 * `release` and `lend` are to be called: all that is inherited (`use`, `takeKept`, `putKept`, `trim`, `allocate`, `share`,
 * `free`, `destroy`) works on state of its own, which is empty.
 */
export class LaneMemory extends GpuMemory {
  readonly #pool: ReturnType<GpuMemory["newPool"]>;

  /** @param wait has the lane wait for what was submitted to the other stream: new memory comes by that */
  constructor(
    private readonly main: GpuMemory,
    source: BufferSource,
    private readonly wait: () => void,
  ) {
    super(source, 0);
    this.#pool = main.newPool();
  }

  override async acquire(label: Acquire[0], wanted: Acquire[1], options: Acquire[2]): Promise<GpuBuffer> {
    if (wanted.usage === PINNED) return this.main.acquire(label, wanted, options);
    const kept = this.main.takeKept(wanted, this.#pool);
    if (kept) return kept;
    const buffer = await this.main.allocate(label, wanted.bytes, wanted.usage, options);
    this.wait();
    return buffer;
  }

  override release(buffer: GpuBuffer): void {
    if (native(buffer).host) this.main.release(buffer);
    else this.main.putKept(this.#pool, buffer);
  }

  override lend(giveUp: () => Promise<unknown>): () => void {
    return this.main.lend(giveUp);
  }
}

function onGpu(context: CudaContext, label: string, size: number): CudaBuffer | undefined {
  const { api, stream } = context;
  const what = `Allocating ${label}`;
  let hasRoom = false;
  const address = readNumber((into) => {
    hasRoom = context.allocated(what, api.cuMemAllocAsync(into, size, stream));
  });
  return hasRoom ? new CudaBuffer(size, address) : undefined;
}

function pinned(context: CudaContext, label: string, size: number): CudaBuffer | undefined {
  const { api, driver } = context;
  const bytes = Math.ceil(size / PAGE) * PAGE;
  let memory: ArrayBuffer;
  try {
    memory = new ArrayBuffer(bytes + PAGE);
  } catch {
    return undefined; // the host has too little
  }
  const start = driver.addressOf(new Uint8Array(memory));
  const skip = (PAGE - (start % PAGE)) % PAGE;
  const isThere = context.allocated(
    `Pinning ${label}`,
    api.cuMemHostRegister_v2(start + skip, bytes, REGISTER_PORTABLE),
  );
  if (!isThere) return undefined;
  pinnedMemory.add(memory);
  return new CudaBuffer(size, start + skip, new Uint8Array(memory, skip, size));
}
