/**
 * The direct kernels: which fragments make up each, and what they are told. They probe a table for the elements of a batch; the scans
 * of whole tables (../scan) share their parameters.
 */

import { getOrMake } from "../../gpu/get-or-make.js";
import {
  type Fragment,
  fragment,
  type KernelSource,
  kernelSource,
  read,
  readWrite,
} from "../../gpu/kernel-source.js";
import type { TableSpec } from "../../layout.js";
import { type SlotFormat, slotFormat } from "../../slot-format.js";
import type { Staging } from "../device/webgpu-runtime.js";
import { control } from "../table/control.js";
import { kindOf, plainSlots, type SlotCode, slotCount } from "../table/plain-slots.js";
import advance from "./advance.wgsl";
import batch from "./batch.wgsl";
import cas from "./cas.wgsl";
import claimKey from "./claim-key.wgsl";
import insert from "./insert.wgsl";
import lookUp from "./look-up.wgsl";
import plainReachCode from "./plain-reach.wgsl";

/** What tests may replace. */
export interface KernelOverrides {
  /** In place of cas.wgsl. */
  cas?: string;
  /** In place of cas-seen.wgsl. */
  casSeen?: string;
  /** Bits that row hashes keep: fewer bits make different rows collide. */
  rowHashMask?: number;
  /** Slots of the table of groups that are few, a power of two from 4 on: with few of them few groups are too many. */
  fewGroupSlots?: number;
  /** Rows and groups from which more groups than that have a table of their own size, and rows are listed in its order. */
  manyGroups?: { leastRows: number; leastGroups: number };
  /** Build rows from which a join's sides are split, and whether those with keys of one word are, too. */
  partedJoin?: { leastRows: number; narrow: boolean };
  /** Rows of both sides from which a join asks whether its keys lie close together, and the longest range in which they do. */
  denseJoin?: { leastRows: number; mostPlaces?: number };
  /** Probe rows from which a join counts those that have a partner before it lists them. */
  leastCounted?: number;
  /** Rows from which keys of two words are made words of, where they fit. */
  narrowedKeys?: { leastRows: number };
  /** Elements that a list of unfinished elements has room for: little room makes it overflow. */
  worklistRoom?: number;
  /** Bytes of the largest range of a table that is bound at once: with few of them small tables have several windows. */
  maxTableBinding?: number;
  /** Steps above which the keys of a full table are copied: 0 copies those of small tables, too. */
  copyAboveSteps?: number;
  /** Elements of a chunk whose columns cross the bus, a multiple of 1,024: with few of them small batches have several chunks. */
  hostChunk?: number;
  /** The staging buffers of uploads: small ones make small batches go through them, in several pieces. */
  staging?: Staging;
  /** Keys of a page of a batch that is grouped, on average: partitioned/staged-items.ts. */
  pageKeys?: number;
}

/** What a dispatch over a batch or a table is told. Shifts are where a column's first element lies in its binding, in 32-bit words. */
export const tableParams = [
  /** Slots of the table, side slots not counted. */
  "slots",
  /** The table's seed. */
  "seed",
  /** Elements of this dispatch: keys of the batch, or entries of the worklist. Of a scan: the window's slots. */
  "count",
  "keyShift",
  "valueShift",
  "maskShift",
  "flagShift",
  /** Bit pattern of the value written for absent keys, or stored in fresh slots by an insertOrApply; its second word. */
  "fill",
  "fillHigh",
  /** A probe that comes this many slots from home leaves its element to a later dispatch. */
  "stepBudget",
  /** No key is this many slots or more after its home. */
  "maxProbe",
  /** Where in `worklists` this dispatch reads its entries (FROM_WORKLIST) and where it lists the elements it leaves; entries of one. */
  "worklistFrom",
  "worklistTo",
  "worklistRoom",
  /** First element of this dispatch in the batch, a multiple of 4: kernels number elements from the batch's start. */
  "first",
  /** The window of the table that is bound: its first slot, and its slots, side slots counted in the last one. */
  "windowFirst",
  "windowSlots",
  /** The elements are in the order of their partitions: a home slot shifted right by this. 0 when they are in any order. */
  "partitionShift",
] as const;

export type TableParam = (typeof tableParams)[number];

/** Elements that one workgroup of the batch kernels takes. */
export const BATCH_TILE = 1024;

/** Reading the keys of a batch. For modules with params.keyShift and the binding `keys`. */
type KeyColumn = Fragment<never, never>;
/** Keys of one word. */
export const keyColumn: KeyColumn = fragment(
  "fn keyOf(element: u32) -> Key { return canonicalKey(keys[params.keyShift + element]); }",
);

/** Constants that say how far a dispatch, and a step of its probes, reaches. */
export const reachConstants = [
  /** `table` is one of several windows. */
  "WINDOWED",
  /** Slots looked at in one step: 1, 2, 4, 8, 16 or 32. */
  "GROUP",
  /** Probes stop at tombstones too. */
  "STOPS_AT_TOMBSTONES",
  /** The table's entries are in the order of their homes: a key of a later home ends a probe. */
  "HOME_SORTED",
] as const;

/** For one window, a GROUP of 1, and entries in any order; further-reach.ts puts what does all in its place. */
export const plainReach = fragment(plainReachCode, { constants: reachConstants });

/** The elements of a batch and their keys. */
export const elements = (keyColumn: KeyColumn) => [
  control,
  slotCount,
  fragment(batch, {
    bindings: { keys: read(), mask: read(), worklists: readWrite("array<vec2u>") },
    constants: [
      /** The elements are those of the worklist at params.worklistFrom. */
      "FROM_WORKLIST",
      /** Elements whose byte in `mask` is 0 are left out. */
      "MASKED",
    ],
  }),
  plainReach,
  keyColumn,
];

/** The same, and the loop along their probe sequences. */
export const batched = (keyColumn: KeyColumn) => [...elements(keyColumn), fragment(advance)];

/** A table of atomic words, and compare-exchange on it. */
export const changing = (code: SlotCode, cas: string, word: "u32" | "i32" = "u32") => [
  fragment(`alias Word = ${word};`, { bindings: { table: readWrite("array<atomic<Word>>") } }),
  fragment(code.changing),
  fragment(cas),
];

/** A table that is only read. */
const reading = (code: SlotCode) => fragment(code.reading, { bindings: { table: read("array<Slot>") } });

/** The kernel that claims slots. */
function insertKernel(
  probing: Probing,
  keyColumn: KeyColumn,
  code: SlotCode,
  cas: string,
  claiming: Fragment<TableBinding, never>,
) {
  const constants = [
    /** Tombstones may be taken, and `known` has a byte per element. */
    "REUSE",
    /** Set the element's byte in `flags` to 1 when it inserts its key. */
    "FLAGGED",
    /** Store the element's value also when its key is there. */
    "ASSIGN",
    /** Store params.fill in place of the element's value. */
    "FILL",
  ] as const;
  return kernelSource("insert", tableParams, [
    probing,
    ...batched(keyColumn),
    ...changing(code, cas),
    claiming,
    fragment(insert, { bindings: { flags: readWrite("array<atomic<u32>>"), known: read() }, constants }),
  ]);
}

function lookUpKernel(probing: Probing, keyColumn: KeyColumn, code: SlotCode) {
  return kernelSource("lookup", tableParams, [
    probing,
    ...batched(keyColumn),
    reading(code),
    fragment(code.found),
    fragment(lookUp, {
      bindings: { values: readWrite(), flags: readWrite("array<atomic<u32>>") },
      constants: [
        /** Write values (find). */
        "VALUED",
        /** Write a byte per element into flags. False when only control.found is wanted. */
        "FLAGGED",
        /** Add the number of keys found to control.found. */
        "COUNTED",
        /** params.fill stands for "absent", in place of flags: a value that equals it is told by control.aborted. */
        "SENTINELS",
      ],
    }),
  ]);
}

/** How keys are hashed and slots are probed. */
export type Probing = Fragment<never, never>;

/** Bindings of batch kernels by name; each has some of them. */
export type TableBinding =
  | "control"
  | "keys"
  | "mask"
  | "worklists"
  | "table"
  | "values"
  | "flags"
  | "known"
  | "claims"
  | "sums";

/** A kernel over the elements of a batch. */
export type BatchKernel = KernelSource<TableParam, TableBinding>;

const known = new WeakMap<KernelOverrides, Map<string, Promise<TableKernels>>>();

/** The direct kernels for tables of one kind. */
export class TableKernels {
  readonly probing: Probing;
  readonly insert: ReturnType<typeof insertKernel>;
  readonly lookup: ReturnType<typeof lookUpKernel>;
  readonly #further = new Map<string, unknown>();

  /** Those of a table's kind on an engine: the same objects for all such tables, so that their texts are made once. */
  static of(spec: TableSpec, overrides: KernelOverrides): Promise<TableKernels> {
    const kinds = getOrMake(known, overrides, () => new Map<string, Promise<TableKernels>>());
    const kind = kindOf(spec);
    return getOrMake(kinds, kind, () => {
      const kernels = makeKernels(spec, overrides.cas ?? cas);
      kernels.catch(() => kinds.delete(kind));
      return kernels;
    });
  }

  constructor(
    /** Of tables of this kind. */
    readonly format: SlotFormat,
    readonly code: SlotCode,
    readonly keyColumn: KeyColumn,
    readonly cas: string,
    claiming: Fragment<TableBinding, never>,
    /** What writes entries into claimed slots, after each insert dispatch; null where slots are claimed by key. */
    readonly settle: BatchKernel | null,
  ) {
    this.probing = fragment(code.probing);
    this.insert = insertKernel(this.probing, keyColumn, code, cas, claiming);
    this.lookup = lookUpKernel(this.probing, keyColumn, code);
  }

  /** A further kernel for such tables, made once. */
  once<T extends KernelSource>(name: string, make: () => T): T {
    return getOrMake(this.#further as Map<string, T>, name, make);
  }

  /** What a kernel that goes over all slots is made of, besides its own fragment. */
  get scanning() {
    return [this.probing, slotCount, reading(this.code)];
  }
}

async function makeKernels(spec: TableSpec, cas: string): Promise<TableKernels> {
  const plain = plainSlots(spec);
  if (!plain) return (await import("./further-kernels.js")).makeKernels(spec, cas);
  return kernelsByKey(slotFormat(spec), plain, cas);
}

/** Those of tables whose slots are claimed by key. */
export function kernelsByKey(format: SlotFormat, code: SlotCode, cas: string): TableKernels {
  const claiming = fragment(claimKey, { bindings: { values: read() } });
  return new TableKernels(format, code, keyColumn, cas, claiming, null);
}
