/**
 * What a device offers the partitioned strategies: its kernels for tables of one kind, and the sizes of workgroups,
 * tiles and pages.
 */

import { LimitError } from "../../../errors.js";
import type { Engine } from "../../engine.js";
import { getOrMake } from "../../gpu/get-or-make.js";
import type { GpuHost } from "../../gpu/host.js";
import type { ItemKind, Splitting } from "../../gpu/partitioning.js";
import type { GpuTraits } from "../../gpu/runtime.js";
import { fitWorkgroup, tileBytes, tileShape } from "../../gpu/tiles.js";
import type { TableSpec } from "../../layout.js";
import { type SlotFormat, slotFormat } from "../../slot-format.js";
import { kindOf } from "../table/plain-slots.js";
import { MultisplitKernels } from "./multisplit-kernels.js";
import { PageKernelMaker } from "./page-kernels.js";
import { itemWords, tileWords } from "./partition-params.js";

/** Workgroup memory that a page takes for each slot: what goes there, and a value that is combined. */
const PAGE_BYTES = 8;
const DIRECT = 'Use the strategy "direct".';
/** Workgroup memory that kernels need besides their tiles and counters. */
const SPARE_BYTES = 4096;

const partitioners = new WeakMap<Engine, Map<string, Partitioner>>();

/** The partition kernels for tables of one kind, and what they may use on a device. */
export class Partitioner {
  readonly sources: MultisplitKernels;
  readonly pageSources: PageKernelMaker;
  /** Slots of a page: a power of two. */
  readonly pageSlots: number;
  readonly #traits: GpuTraits;
  readonly #format: SlotFormat;

  /** That of a table's kind on its device. */
  static of({ host, spec }: Pick<Splitting, "host" | "spec">): Partitioner {
    const kinds = getOrMake(partitioners, host.engine, () => new Map<string, Partitioner>());
    return getOrMake(kinds, kindOf(spec), () => new Partitioner(host, spec));
  }

  private constructor({ gpu }: GpuHost, spec: TableSpec) {
    const { traits } = gpu;
    this.sources = new MultisplitKernels(spec, traits);
    this.pageSources = new PageKernelMaker(spec, traits);
    this.#format = slotFormat(spec);
    this.#traits = traits;
    // page-build.wgsl has twelve bits for a slot, so that pages have 2,048 slots at most
    this.pageSlots = traits.isEmulated ? 1024 : 2048;
    while (this.pageSlots * PAGE_BYTES + SPARE_BYTES > this.#traits.maxWorkgroupBytes) this.pageSlots /= 2;
  }

  get pageShift(): number {
    return Math.log2(this.pageSlots);
  }

  /** Invocations of a kernel that owns pages, of which `most` are best: a power of two. */
  readonly pageWorkgroup = (most: number): number => {
    return 2 ** Math.floor(Math.log2(Math.min(most, this.#traits.maxInvocations, this.pageSlots / 2)));
  };

  /**
   * Invocations of scatter, sub-partition and unpermute, whose workgroups remember `seen` words; and the items of a
   * tile.
   * @throws LimitError when a tile of such items is too much for a workgroup's memory
   */
  readonly tileOf = (kind: ItemKind, bins: number, seen = 1): { workgroup: number; items: number } => {
    const { items, rounds } = tileShape(this.#traits, tileWords(this.#format, kind));
    const bytes = (items / rounds) * itemWords(this.#format, kind) * 4;
    const workgroup = this.workgroup(bytes, bins, seen);
    const needed = tileBytes(workgroup, bytes, bins, seen);
    if (needed > this.#traits.maxWorkgroupBytes)
      throw new LimitError("maxComputeWorkgroupStorageSize", needed, this.#traits.maxWorkgroupBytes, DIRECT);
    return { workgroup, items: workgroup * items };
  };

  /**
   * Invocations of a kernel that takes `bytes` bytes of workgroup memory for each, besides 12 bytes a bin and 4 for a
   * word it remembers.
   */
  workgroup(bytes: number, bins: number, seen = 0): number {
    return fitWorkgroup(this.#traits, bytes, bins, seen);
  }
}
