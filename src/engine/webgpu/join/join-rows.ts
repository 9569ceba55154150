/**
 * Inner join of row keys on the GPU. The smaller side is built into a table that groups equal rows; the other side probes.
 * Where every build row is a group of its own, the probe writes pairs at once. Else groups are laid out one after the
 * other, the pairs of each probe row are counted and scanned, and every pair is written by an invocation of its own, so
 * one key with a large share of both sides costs what its pairs cost.
 */
import { EngineError, LimitError } from "../../../errors.js";
import type { JoinCall } from "../../row-operations.js";
import { MAX_PAIRS, type RowKeys, type RowPairs } from "../../rows.js";
import { asBytes } from "../../scalars.js";
import { forEachChunk } from "../batch/chunks.js";
import { Scratch } from "../batch/columns.js";
import { fill } from "../device/fill.js";
import type { Gpu } from "../device/gpu.js";
import type { Bindings, Kernels, Range } from "../device/kernel.js";
import type { KernelSource } from "../device/kernel-source.js";
import type { Pacer } from "../device/pacer.js";
import {
  type GroupKernels,
  ROW_CONTROL_BYTES,
  ROW_TILE,
  type RowCounters,
  type RowParams,
  readRowCounters,
  SCAN_TILE,
} from "../groups/row-kernels.js";
import { type RecordLayout, RecordPacker, type Records, recordLayout } from "../groups/row-records.js";
import { expandKernel, matchCountsKernel, probeKernel, probeUniqueKernel } from "./join-kernels.js";

/** What a join needs of its engine. */
export interface JoinHost {
  readonly gpu: Gpu;
  readonly kernels: Kernels;
  readonly pacer: Pacer;
  readonly sources: GroupKernels;
}

/** Joins two sides; see engine/rows.ts for what makes rows equal. */
export async function joinRows(
  host: JoinHost,
  left: RowKeys,
  right: RowKeys,
  call: JoinCall,
): Promise<RowPairs> {
  call.signal?.throwIfAborted();
  if (left.rows === 0 || right.rows === 0) return { left: new Uint32Array(0), right: new Uint32Array(0) };
  const swapped = left.rows < right.rows;
  const scratch = new Scratch(host.gpu);
  try {
    const join = new RowJoin(host, scratch, recordLayout(left, right), call);
    const { build, probe } = await join.run(swapped ? left : right, swapped ? right : left);
    return swapped ? { left: build, right: probe } : { left: probe, right: build };
  } finally {
    scratch.release();
  }
}

/** Slots per build row: load factor 0.5. */
const SLOTS_PER_ROW = 2;
/** Times that rows may be left over by spurious failures, 256 at a time, before the driver is called broken. */
const MAX_BUILD_ROUNDS = 64;
/** Pairs brought to the host at once: 16 MiB per column. */
const PAIR_CHUNK = 2 ** 22;

interface Pairs {
  build: Uint32Array;
  probe: Uint32Array;
}

/** The groups of the build side. */
interface Groups {
  side: Records;
  slots: number;
  table: Range;
  sizes: Range;
  /** Per row: slot and rank. */
  places: Range;
}

/** One join under way. */
class RowJoin {
  readonly #packer: RecordPacker;
  #control!: Range;
  #rows = { build: 0, probe: 0 };

  constructor(
    private readonly host: JoinHost,
    private readonly scratch: Scratch,
    private readonly layout: RecordLayout,
    private readonly call: JoinCall,
  ) {
    this.#packer = new RecordPacker(host.gpu, host.kernels, host.sources, layout);
  }

  async run(buildSide: RowKeys, probeSide: RowKeys): Promise<Pairs> {
    this.#rows = { build: buildSide.rows, probe: probeSide.rows };
    this.#control = await this.#range(ROW_CONTROL_BYTES);
    await this.host.gpu.submit("control", (encoder) =>
      encoder.clearBuffer(this.#control.buffer, 0, this.#control.size),
    );
    const build = await this.#packer.pack(buildSide, this.scratch);
    const probe = await this.#packer.pack(probeSide, this.scratch);
    const groups = await this.#build(build);
    const { groups: distinct } = await this.#counters();
    if (distinct === build.rows) return this.#probeUnique(groups, probe);
    return this.#probeGroups(groups, probe);
  }

  /** Groups equal rows of the build side. */
  async #build(side: Records): Promise<Groups> {
    const { gpu, kernels, sources } = this.host;
    const slots = side.rows * SLOTS_PER_ROW;
    const groups: Groups = {
      side,
      slots,
      table: await this.#range(slots * 4),
      sizes: await this.#range(slots * 4),
      places: await this.#range(side.rows * 8),
    };
    await fill(gpu, kernels, groups.table, 0xffffffff);
    await fill(gpu, kernels, groups.places, 0xffffffff);
    await fill(gpu, kernels, groups.sizes, 0);
    const { table, sizes, places } = groups;
    const bindings = { ...this.#compared(groups, side), table, groupSizes: sizes, places };
    for (let round = 0; round < MAX_BUILD_ROUNDS; round++) {
      await this.#eachRow("join build", (params) =>
        this.#run(sources.numberRows, bindings, { ...params, slots }),
      );
      const { unfinished } = await this.#counters();
      if (unfinished === 0) return groups;
      // the word "unfinished" of the control buffer
      gpu.write(this.#control.buffer, 4, new Uint8Array(4));
    }
    throw new EngineError("compare-exchange fails without end on this GPU.");
  }

  /** Pairs when no two build rows are equal: at most one per probe row. */
  async #probeUnique(groups: Groups, probe: Records): Promise<Pairs> {
    const outBuild = await this.#range(probe.rows * 4);
    const outProbe = await this.#range(probe.rows * 4);
    const bindings = { ...this.#compared(groups, probe), table: groups.table, outBuild, outProbe };
    const { slots } = groups;
    await this.#eachRow("join probe", (params) =>
      this.#run(probeUniqueKernel, bindings, { ...params, slots }),
    );
    const pairs = newPairs((await this.#counters()).pairsLow);
    await this.#download(pairs, outBuild, outProbe);
    return pairs;
  }

  /** Pairs when build rows repeat. */
  async #probeGroups(groups: Groups, probe: Records): Promise<Pairs> {
    const { sources } = this.host;
    const matches = await this.#range(probe.rows * 8);
    const { table, sizes } = groups;
    const bindings = { ...this.#compared(groups, probe), table, groupSizes: sizes, matches };
    const { slots } = groups;
    await this.#eachRow("join probe", (params) => this.#run(probeKernel, bindings, { ...params, slots }));
    const { pairsLow, pairsHigh } = await this.#counters();
    const total = pairsHigh * 2 ** 32 + pairsLow;
    if (total > MAX_PAIRS) {
      throw new LimitError("rows", total, MAX_PAIRS, "Join on more columns, or filter one side first.");
    }
    await this.#scan(groups.sizes, groups.slots);
    const grouped = await this.#range(groups.side.rows * 4);
    const count = { count: groups.side.rows };
    const listed = { places: groups.places, groupStarts: sizes, grouped };
    await this.#run(sources.listMembers, listed, count);
    const starts = await this.#range(probe.rows * 4);
    await this.#run(matchCountsKernel, { matches, counts: starts }, { count: probe.rows });
    await this.#scan(starts, probe.rows);
    const inputs = { pairStarts: starts, matches, groupStarts: sizes, grouped };
    return this.#expand(total, probe.rows, inputs);
  }

  /** Writes the pairs a chunk at a time and brings them to the host. */
  async #expand(
    total: number,
    probeRows: number,
    inputs: Bindings<"pairStarts" | "matches" | "groupStarts" | "grouped">,
  ): Promise<Pairs> {
    const pairs = newPairs(total);
    const room = Math.min(total, PAIR_CHUNK) * 4;
    const outBuild = await this.#range(room);
    const outProbe = await this.#range(room);
    for (let first = 0; first < total; first += PAIR_CHUNK) {
      this.call.signal?.throwIfAborted();
      const count = Math.min(PAIR_CHUNK, total - first);
      await this.#run(
        expandKernel,
        { ...inputs, outBuild, outProbe },
        {
          first,
          count,
          total: probeRows,
        },
      );
      const piece = {
        build: pairs.build.subarray(first, first + count),
        probe: pairs.probe.subarray(first, first + count),
      };
      await this.#download(piece, outBuild, outProbe);
    }
    return pairs;
  }

  /** Reads pairs back. */
  async #download(pairs: Pairs, outBuild: Range, outProbe: Range): Promise<void> {
    for (let first = 0; first < pairs.build.length; first += PAIR_CHUNK) {
      const last = first + PAIR_CHUNK;
      const offset = first * 4;
      await this.host.gpu.submit("pairs", () => {}, [
        { buffer: outBuild.buffer, offset, into: asBytes(pairs.build.subarray(first, last)) },
        { buffer: outProbe.buffer, offset, into: asBytes(pairs.probe.subarray(first, last)) },
      ]);
    }
  }

  /** Replaces words by their exclusive prefix sums. */
  async #scan(words: Range, total: number): Promise<void> {
    const tiles = Math.ceil(total / SCAN_TILE);
    const sums = await this.#range(tiles * 4);
    const { scan, scanAdd } = this.host.sources;
    await this.#run(scan, { words, tileSums: sums }, { total, count: tiles * ROW_TILE });
    if (tiles === 1) return;
    await this.#scan(sums, tiles);
    await this.#run(scanAdd, { words, tileSums: sums }, { total, count: tiles * ROW_TILE });
  }

  /** The bindings of kernels that compare probe rows with build rows. */
  #compared({ side }: Groups, probe: Records) {
    return {
      buildRecords: side.records,
      buildBytes: side.bytes,
      records: probe.records,
      bytes: probe.bytes,
      control: this.#control,
    };
  }

  /** Dispatches a kernel; `count` says over how many invocations. */
  async #run<B extends string>(
    source: KernelSource<keyof RowParams, B, never>,
    bindings: Bindings<B>,
    params: RowParams,
  ): Promise<void> {
    const { gpu, kernels } = this.host;
    const kernel = await kernels.compile(source, {});
    const { rowWords, plainWords, nullWords } = this.layout;
    const layout = { rowWords, plainWords, nullWords, nullsEqual: Number(this.call.nullsEqual) };
    await gpu.submit(source.label, (encoder) =>
      kernel.record(encoder, bindings, { ...layout, ...params }, Math.ceil((params.count ?? 0) / ROW_TILE)),
    );
  }

  /** Runs a step over all rows of a side in chunks of about 100 ms. */
  #eachRow(
    operation: "join build" | "join probe",
    step: (params: RowParams) => Promise<void>,
  ): Promise<void> {
    const { build, probe } = this.#rows;
    const [before, rows] = operation === "join build" ? [0, build] : [build, probe];
    const { signal, onProgress } = this.call;
    const call = { signal, onProgress: (done: number) => onProgress?.(before + done, build + probe) };
    const limits = { operation, bindable: Number.POSITIVE_INFINITY };
    return forEachChunk(this.host.pacer, limits, rows, call, async ({ first, count }) => {
      await step({ first, count });
      await this.#counters();
    });
  }

  async #counters(): Promise<RowCounters> {
    const into = new Uint8Array(ROW_CONTROL_BYTES);
    await this.host.gpu.submit("row counters", () => {}, [{ buffer: this.#control.buffer, offset: 0, into }]);
    return readRowCounters(into);
  }

  #range(bytes: number): Promise<Range> {
    return this.#packer.range(this.scratch, bytes);
  }
}

function newPairs(count: number): Pairs {
  return { build: new Uint32Array(count), probe: new Uint32Array(count) };
}
