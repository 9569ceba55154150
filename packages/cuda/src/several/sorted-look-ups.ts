/**
 * Look-ups of a large batch in the tables of several GPUs. Each GPU sorts its keys by owner, and those of an owner by
 * partition of its table, in its own memory. An owner reads them from there, one after another, while it meets its slots;
 * results are copied back beside the next look-ups, and each GPU brings its own into the order of the batch.
 */
import {
  getOrMake,
  type Missing,
  type PlanLog,
  type Range,
  type Readback,
  type Scratch,
} from "warpmap/engine";
import type { CudaTable } from "../table/cuda-table.js";
import { gathers, type SortedByOwner, sortByOwner } from "../table/partitions.js";
import type { ResultColumn, WayBack } from "./exchange.js";
import { type Gpus, settled } from "./gpus.js";
import { Inputs, scratchOf } from "./inputs.js";
import type { Span } from "./pieces.js";
import type { KeyPart } from "./sorted-batch.js";

/** A GPU's keys, and what is found of them, in the same order. */
interface Source extends Span, SortedByOwner {
  readonly values: Range | undefined;
  readonly found: Range;
}

type Parts = readonly CudaTable<never, never>[];

interface Finding {
  readonly part: CudaTable<never, never>;
  readonly owner: number;
  readonly gpus: Gpus;
  /** Whose streams bring results back. */
  readonly back: Gpus;
  readonly missing: Missing | undefined;
  readonly log: PlanLog | undefined;
}

/** Keys of a line of memory, and flags of a sector. */
const LINE = 32;

export class SortedLookUps implements WayBack {
  readonly #scratch: Map<Gpus, readonly Scratch[]>;

  private constructor(
    private readonly parts: Parts,
    private readonly sources: readonly Source[],
    private readonly on: Gpus,
    scratch: readonly Scratch[],
  ) {
    this.#scratch = new Map([[on, scratch]]);
  }

  /**
   * Sorts a batch by the streams of `on`.
   * @param hasValues not only whether keys are there is asked
   */
  static async of(
    on: Gpus,
    parts: Parts,
    spans: readonly Span[],
    { column, type }: KeyPart,
    {
      inputs,
      seed,
      hasValues,
    }: { readonly inputs: Inputs | undefined; readonly seed: number; readonly hasValues: boolean },
  ): Promise<SortedLookUps> {
    const scratch = scratchOf(on);
    try {
      const keys = await (inputs ?? new Inputs(on, spans, scratch)).of(type, column, 1, on);
      const sources = await settled(
        spans.map(async (span, s): Promise<Source> => {
          const { gpu } = on.hosts[span.gpu];
          const own = scratch[span.gpu];
          const room = async (bytes: number) => ({ buffer: await own.buffer(span.count * bytes + 4) });
          const values = hasValues ? await room(valueBytes(parts[0])) : undefined;
          const found = await room(1);
          const batch = { keys: keys[s], count: span.count, scratch: own };
          const owners = { owners: on.count, seed };
          return { ...span, values, found, ...(await sortByOwner(parts[0].native, gpu, batch, owners)) };
        }),
      );
      return new SortedLookUps(parts, sources, on, scratch);
    } catch (error) {
      on.release(scratch);
      throw error;
    }
  }

  /** Keys, and those of them that another GPU owns than the one that has them. */
  get total(): number {
    return this.sources.reduce((sum, { count }) => sum + count, 0);
  }

  get moved(): number {
    return this.sources.reduce((sum, source) => sum + source.count - countOf(source, source.gpu), 0);
  }

  /** Has all owners look their keys up, by the streams of `gpus`: those of other GPUs first, whose results go back meanwhile. */
  async find(gpus: Gpus, missing: Missing | undefined, log: PlanLog | undefined): Promise<void> {
    const { sources, parts, on } = this;
    // beside other work all was waited for; and results wait for none of it
    const back = on.isLane ? gpus : gpus.lane("there");
    if (!on.isLane) on.meet();
    const reason = "table and batch are large, so that keys are sorted, and looked up from where they are";
    log?.beginChunk({ strategy: "partitioned", reason, partitions: sources[0].partitions });
    const turn = ({ gpu }: Source, owner: number) => (gpu - owner - 1 + gpus.count) % gpus.count;
    await settled(
      parts.map(async (part, owner) => {
        const inTurn = [...sources].sort((a, b) => turn(a, owner) - turn(b, owner));
        for (const source of inTurn) await this.#findOf(source, { part, owner, gpus, back, missing, log });
      }),
    );
    gpus.after(back);
  }

  /** Looks the keys up that a source has of an owner. */
  async #findOf(source: Source, { part, owner, gpus, back, missing, log }: Finding): Promise<void> {
    const start = source.starts[owner];
    const count = countOf(source, owner);
    if (count === 0) return;
    const ofOwner = owner === 0 ? log : undefined;
    const isOwn = source.gpu === owner;
    // warps read lines of the other GPU's memory as a whole; what they find of the keys before is not copied
    const lead = isOwn ? 0 : start % LINE;
    const columns = [
      { bytes: valueBytes(part), to: source.values },
      { bytes: 1, to: source.found },
    ];
    const scratch = this.scratchOf(owner, gpus);
    const [values, found] = await settled(
      columns.map(async ({ bytes, to }) => {
        if (!to || isOwn) return to && { ...to, offset: start * bytes };
        return { buffer: await scratch.buffer((lead + count) * bytes + 4), offset: 0 };
      }),
    );
    const keys = { ...source.level.keys, offset: 4 * part.native.format.keyWords * (start - lead) };
    await part.findSorted({ keys, values, found: found as Range, count: lead + count }, missing, ofOwner);
    if (isOwn) return;
    back.context(owner).after(gpus.context(owner));
    for (const [i, { bytes, to }] of columns.entries()) {
      const from = [values, found][i];
      if (!from || !to) continue;
      const [here, there] = [
        { ...from, gpu: owner, offset: lead * bytes },
        { ...to, gpu: source.gpu, offset: start * bytes },
      ];
      await back.hosts[owner].gpu.submit("results", () => back.copy(owner, here, there, count * bytes));
    }
  }

  async bringBack(
    columns: readonly ResultColumn[],
    reads: readonly (readonly Readback[])[],
    on: Gpus,
  ): Promise<void> {
    on.meet();
    await settled(
      this.sources.map(async ({ gpu: at, level, values, found }, s) => {
        const { gpu } = on.hosts[at];
        const to = (isFlags: boolean) => columns.find(({ type }) => (type === "u8") === isFlags)?.to[s];
        const results = { sortedValues: values, sortedFound: found, values: to(false), found: to(true) };
        await gpu.submit("gather", gathers(this.parts[0].native, gpu, level, results), reads[s]);
        if (!reads[s]?.length) await gpu.context.arrived("gather");
      }),
    );
  }

  scratchOf(gpu: number, on: Gpus): Scratch {
    return getOrMake(this.#scratch, on, () => scratchOf(on))[gpu];
  }

  release(isDone?: boolean): void {
    this.on.release([...this.#scratch.values()].flat(), isDone);
  }
}

/** Bytes of what is found: a value, or of sets the key. */
const valueBytes = ({ native: { format } }: Parts[number]) => 4 * (format.valueWords || format.keyWords);

const countOf = ({ starts }: Source, owner: number) => starts[owner + 1] - starts[owner];
