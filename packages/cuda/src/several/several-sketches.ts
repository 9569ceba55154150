/**
 * Sketches on several GPUs: each GPU has one of what it was given. They are joined when somebody asks: into the first
 * for its contents, and from there into all for look-ups.
 */
import type {
  BasicType,
  CallOptions,
  ColumnInput,
  ColumnOutput,
  Combination,
  Destination,
  DeviceArray,
  EngineFilter,
  EngineRegisters,
  EngineSketch,
  SketchOperations,
} from "warpmap/engine";
import { settled } from "./gpus.js";
import { arrayAt, scratchOf } from "./inputs.js";
import { arrayOf, type Span, spansOfBatch } from "./pieces.js";
import { Columns, type SeveralHost } from "./results.js";

type Make<S> = (gpu: number, contents?: Uint8Array) => Promise<S>;

export function severalSketches(host: SeveralHost, parts: readonly SketchOperations[]): SketchOperations {
  return {
    async filter(key, blocks, contents) {
      const make: Make<EngineFilter<typeof key>> = (gpu, bytes) => parts[gpu].filter(key, blocks, bytes);
      return new SeveralFilter(host, key, make, await madeOnAll(host, make, contents));
    },
    async registers(key, precision, contents) {
      const make: Make<EngineRegisters<typeof key>> = (gpu, bytes) =>
        parts[gpu].registers(key, precision, bytes);
      return new SeveralRegisters(host, key, make, await madeOnAll(host, make, contents));
    },
  };
}

/** A sketch on each GPU, the first with the contents. What was made is given up when one fails. */
async function madeOnAll<S extends EngineSketch>(
  { gpus }: SeveralHost,
  make: Make<S>,
  contents?: Uint8Array,
): Promise<S[]> {
  const made: S[] = [];
  try {
    await settled(
      gpus.hosts.map(async (_, gpu) => {
        made[gpu] = await make(gpu, gpu === 0 ? contents : undefined);
      }),
    );
    return made;
  } catch (error) {
    for (const sketch of made) sketch?.destroy();
    throw error;
  }
}

abstract class SeveralSketch<K extends BasicType, S extends EngineSketch<K>> implements EngineSketch<K> {
  /** GPUs that the first one does not know all of. */
  readonly #ahead = new Set<number>();
  /** GPUs that do not know all that the first one does. */
  readonly #behind: Set<number>;

  constructor(
    protected readonly host: SeveralHost,
    protected readonly key: K,
    protected readonly make: Make<S>,
    protected readonly parts: readonly S[],
  ) {
    this.#behind = new Set(this.#others);
  }

  get bytes(): number {
    return this.parts[0].bytes;
  }

  get #others(): number[] {
    return [...this.parts.keys()].slice(1);
  }

  async add(keys: ColumnInput<K>, call: CallOptions): Promise<void> {
    await this.eachSpan(keys, call, (part, own, gpu, options) => {
      if (gpu > 0) this.#ahead.add(gpu);
      else for (const other of this.#others) this.#behind.add(other);
      return part.add(own, options);
    });
  }

  async combine(other: EngineSketch<K>, how: Combination): Promise<void> {
    const { parts } = other as SeveralSketch<K, S>;
    if (how === "intersection") {
      for (const sketch of [this, other as SeveralSketch<K, S>]) await sketch.joined("all");
    } else {
      for (const gpu of this.#others) {
        this.#ahead.add(gpu);
        this.#behind.add(gpu);
      }
    }
    await settled(this.parts.map((part, gpu) => part.combine(parts[gpu], how)));
  }

  async clear(): Promise<void> {
    await settled(this.parts.map((part) => part.clear()));
    this.#ahead.clear();
    this.#behind.clear();
  }

  async read(into: Uint8Array): Promise<void> {
    await this.joined("first");
    await this.parts[0].read(into);
  }

  destroy(): void {
    for (const part of this.parts) part.destroy();
  }

  /** Copies of all parts, joined before. */
  protected async copies(): Promise<S[]> {
    await this.joined("all");
    const copies: S[] = [];
    try {
      for (const part of this.parts) copies.push(await (part as S & { copy(): Promise<S> }).copy());
      return copies;
    } catch (error) {
      for (const copy of copies) copy.destroy();
      throw error;
    }
  }

  /** Has the first GPU, or each, know all that was added. */
  protected async joined(where: "first" | "all"): Promise<void> {
    for (const gpu of this.#ahead) {
      await this.#take(0, gpu);
      for (const other of this.#others) if (other !== gpu) this.#behind.add(other);
      this.#ahead.delete(gpu);
    }
    if (where === "first") return;
    for (const gpu of this.#behind) {
      await this.#take(gpu, 0);
      this.#behind.delete(gpu);
    }
  }

  /** Has a GPU's sketch take another GPU's in. */
  async #take(to: number, from: number): Promise<void> {
    const { gpus } = this.host;
    const [into, other] = [this.parts[to], this.parts[from]];
    if (gpus.reaches(to, from)) {
      gpus.context(to).after(gpus.context(from));
      await into.combine(other, "union");
      gpus.context(from).after(gpus.context(to));
      return;
    }
    const contents = new Uint8Array(other.bytes);
    await other.read(contents);
    const copy = await this.make(to, contents);
    try {
      await into.combine(copy, "union");
    } finally {
      copy.destroy();
    }
  }

  /** Has each GPU work on its elements of a batch. */
  protected async eachSpan(
    keys: ColumnInput<K>,
    call: CallOptions,
    work: (part: S, keys: DeviceArray<K>, gpu: number, call: CallOptions, span: Span) => Promise<unknown>,
  ): Promise<void> {
    const { gpus } = this.host;
    const { signal, strategy, log, where } = call;
    call.signal?.throwIfAborted();
    call.checkInputs?.();
    const scratch = scratchOf(gpus);
    try {
      await settled(
        this.spansOf(keys).map(async (span, s) => {
          const at = scratch[span.gpu];
          const own = await arrayAt(gpus, at, this.key, keys, span);
          const mask = where && (await arrayAt(gpus, at, "u8", where, span));
          const options = { signal, strategy, ...(mask && { where: mask }), ...(s === 0 && { log }) };
          await work(this.parts[span.gpu], own, span.gpu, options, span);
        }),
      );
    } finally {
      gpus.release(scratch);
    }
    call.onProgress?.(keys.length, keys.length);
  }

  /** Who has which elements of a batch. */
  protected spansOf(keys: ColumnInput<K>): Span[] {
    const { gpus, least } = this.host;
    return spansOfBatch([keys as ColumnInput], this.key, gpus.count, least.bytes);
  }
}

class SeveralRegisters<K extends BasicType>
  extends SeveralSketch<K, EngineRegisters<K>>
  implements EngineRegisters<K>
{
  async copy(): Promise<SeveralRegisters<K>> {
    return new SeveralRegisters(this.host, this.key, this.make, await this.copies());
  }
}

class SeveralFilter<K extends BasicType>
  extends SeveralSketch<K, EngineFilter<K>>
  implements EngineFilter<K>
{
  async copy(): Promise<SeveralFilter<K>> {
    return new SeveralFilter(this.host, this.key, this.make, await this.copies());
  }

  async contains(keys: ColumnInput<K>, output: Destination, call: CallOptions): Promise<ColumnOutput<"u8">> {
    const { host } = this;
    const spans = this.spansOf(keys);
    await this.joined(spans.every(({ gpu }) => gpu === 0) ? "first" : "all");
    const flags: DeviceArray<"u8">[] = [];
    try {
      await this.eachSpan(keys, call, async (part, own, gpu, options) => {
        flags[gpu] = (await part.contains(own, "device", options)) as DeviceArray<"u8">;
      });
      if (output === "device") {
        const pieces = spans.map(({ gpu, first }) => ({ gpu, first, array: flags[gpu] }));
        flags.length = 0;
        return arrayOf(host.engine, "u8", pieces);
      }
      const results = await Columns.create(host, output, ["u8"], spans);
      await results.take(
        spans,
        host.gpus.hosts.map((_, gpu) => [flags[gpu]]),
      );
      return results.outputs[0] as ColumnOutput<"u8">;
    } finally {
      for (const each of flags) each?.destroy();
    }
  }
}
