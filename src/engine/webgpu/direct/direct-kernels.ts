/**
 * The direct kernels: which fragments make up each, and what they are told. They probe a table for the elements of a
 * batch; the scans of whole tables (../scan) share their parameters.
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
import { wgsl } from "../device/module-code.js";
import { control } from "../table/control.js";
import { kindOf, plainSlots, type SlotCode, slotCount } from "../table/plain-slots.js";
import advance from "./advance.wgsl";
import batch from "./batch.wgsl";
import claimKey from "./claim-key.wgsl";
import insert from "./insert.wgsl";
import lookUp from "./look-up.wgsl";
import plainReachCode from "./plain-reach.wgsl";

/**
 * What a dispatch over a batch or a table is told. Shifts are where a column's first element lies in its binding, in
 * 32-bit words.
 */
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
  /**
   * Bit pattern of the value written for absent keys, or stored in fresh slots by an insertOrApply; its second word.
   */
  "fill",
  "fillHigh",
  /** A probe that comes this many slots from home leaves its element to a later dispatch. */
  "stepBudget",
  /** No key is this many slots or more after its home. */
  "maxProbe",
  /**
   * Where in `worklists` this dispatch reads its entries (FROM_WORKLIST) and where it lists the elements it leaves;
   * entries of one.
   */
  "worklistFrom",
  "worklistTo",
  "worklistRoom",
  /** First element of this dispatch in the batch, a multiple of 4: kernels number elements from the batch's start. */
  "first",
  /** The window of the table that is bound: its first slot, and its slots, side slots counted in the last one. */
  "windowFirst",
  "windowSlots",
  /**
   * The elements are in the order of their partitions: a home slot shifted right by this. 0 when they are in any order.
   */
  "partitionShift",
] as const;

export type TableParam = (typeof tableParams)[number];

/** Elements that one workgroup of the batch kernels takes. */
export const BATCH_TILE = 1024;

/** Reading the keys of a batch. For modules with params.keyShift and the binding `keys`. */
type KeyColumn = Fragment<never, never>;
/** Keys of one word. */
export const keyColumn: KeyColumn = wgsl(
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
  "HOME_SORTED",
] as const;

/** For one window, a GROUP of 1, and entries in any order; further-reach.ts puts what does all in its place. */
export const plainReach = wgsl(plainReachCode, { constants: reachConstants });

/** The elements of a batch and their keys. */
export const elements = (keyColumn: KeyColumn) => [
  control,
  slotCount,
  wgsl(batch, {
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
export const batched = (keyColumn: KeyColumn) => [...elements(keyColumn), wgsl(advance)];

export const exchange = fragment("direct/cas");
/** A table of atomic words, and compare-exchange on it. */
export const changing = (code: SlotCode, word: "u32" | "i32" = "u32") => [
  wgsl(`alias Word = ${word};`, { bindings: { table: readWrite("array<atomic<Word>>") } }),
  wgsl(code.changing),
  exchange,
];

/** A table that is only read. */
const reading = (code: SlotCode) => wgsl(code.reading, { bindings: { table: read("array<Slot>") } });

function insertKernel(
  probing: Probing,
  keyColumn: KeyColumn,
  code: SlotCode,
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
    ...changing(code),
    claiming,
    wgsl(insert, { bindings: { flags: readWrite("array<atomic<u32>>"), known: read() }, constants }),
  ]);
}

function lookUpKernel(probing: Probing, keyColumn: KeyColumn, code: SlotCode) {
  return kernelSource("lookup", tableParams, [
    probing,
    ...batched(keyColumn),
    reading(code),
    wgsl(code.found),
    wgsl(lookUp, {
      bindings: { values: readWrite(), flags: readWrite("array<atomic<u32>>") },
      constants: [
        /** Write values (find). */
        "VALUED",
        /** Write a byte per element into flags. False when only control.found is wanted. */
        "FLAGGED",
        /** Add the number of keys found to control.found. */
        "COUNTED",
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

export type BatchKernel = KernelSource<TableParam, TableBinding>;

const known = new Map<string, Promise<TableKernels>>();

/** The direct kernels for tables of one kind. */
export class TableKernels {
  readonly probing: Probing;
  readonly insert: ReturnType<typeof insertKernel>;
  readonly lookup: ReturnType<typeof lookUpKernel>;
  readonly #further = new Map<string, unknown>();

  /** Those of a table's kind: the same objects for all such tables, so that their texts are made once. */
  static of(spec: TableSpec): Promise<TableKernels> {
    const kind = kindOf(spec);
    return getOrMake(known, kind, () => {
      const kernels = makeKernels(spec);
      kernels.catch(() => known.delete(kind));
      return kernels;
    });
  }

  constructor(
    readonly format: SlotFormat,
    readonly code: SlotCode,
    readonly keyColumn: KeyColumn,
    claiming: Fragment<TableBinding, never>,
    /** What writes entries into claimed slots, after each insert dispatch; null where slots are claimed by key. */
    readonly settle: BatchKernel | null,
  ) {
    this.probing = wgsl(code.probing);
    this.insert = insertKernel(this.probing, keyColumn, code, claiming);
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

async function makeKernels(spec: TableSpec): Promise<TableKernels> {
  const plain = plainSlots(spec);
  if (!plain) return (await import("./further-kernels.js")).makeKernels(spec);
  return kernelsByKey(slotFormat(spec), plain);
}

/** Those of tables whose slots are claimed by key. */
export function kernelsByKey(format: SlotFormat, code: SlotCode): TableKernels {
  const claiming = wgsl(claimKey, { bindings: { values: read() } });
  return new TableKernels(format, code, keyColumn, claiming, null);
}
