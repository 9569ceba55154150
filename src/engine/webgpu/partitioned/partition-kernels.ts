/**
 * The partition kernels: which fragments make up each, and what they are told. They bring a chunk into the order of the table's slots,
 * so that the accesses that follow are local; see docs/partitioned-build.md and docs/partitioned-find.md. They are for slots of one or
 * two words that are claimed by key.
 */
import type { TableSpec } from "../../layout.js";
import { slotFormat } from "../../slot-format.js";
import {
  constantLines,
  fragment,
  type KernelSource,
  kernelSource,
  read,
  readWrite,
} from "../device/kernel-source.js";
import { atomicType, type Combining, combiningCode, NOT_COMBINING } from "../direct/combine.js";
import { control } from "../table/control.js";
import { erasingCode, itemCode, probing } from "../table/slot-code.js";
import casSeen from "./cas-seen.wgsl";
import distinct from "./distinct.wgsl";
import extract from "./extract.wgsl";
import fallbackColumns from "./fallback-columns.wgsl";
import fallbackNone from "./fallback-none.wgsl";
import gather from "./gather.wgsl";
import histogram from "./histogram.wgsl";
import homes from "./homes.wgsl";
import lanesPlain from "./lanes-plain.wgsl";
import lanesSubgroups from "./lanes-subgroups.wgsl";
import merge from "./merge.wgsl";
import noteNone from "./note-none.wgsl";
import notePlaces from "./note-places.wgsl";
import offsets from "./offsets.wgsl";
import overflow from "./overflow.wgsl";
import overflowNotes from "./overflow-notes.wgsl";
import packPlain from "./pack-plain.wgsl";
import packSubgroups from "./pack-subgroups.wgsl";
import pad from "./pad.wgsl";
import page from "./page.wgsl";
import pageBuild from "./page-build.wgsl";
import pageErase from "./page-erase.wgsl";
import pageFind from "./page-find.wgsl";
import pageProbe from "./page-probe.wgsl";
import places from "./places.wgsl";
import propagate from "./propagate.wgsl";
import propagateBuild from "./propagate-build.wgsl";
import propagateErase from "./propagate-erase.wgsl";
import putColumns from "./put-columns.wgsl";
import putItems from "./put-items.wgsl";
import readPlaces from "./read-places.wgsl";
import scanHomesPlain from "./scan-homes-plain.wgsl";
import scanHomesSubgroups from "./scan-homes-subgroups.wgsl";
import scatter from "./scatter.wgsl";
import selected from "./selected.wgsl";
import subPartition from "./sub-partition.wgsl";
import tile from "./tile.wgsl";
import tileNumber from "./tile-number.wgsl";
import unpermute from "./unpermute.wgsl";

/** What a dispatch is told. Shifts are where a column's first element lies in its binding, in 32-bit words. */
export const partitionParams = [
  /** Slots of the table, side slots not counted. */
  "slots",
  /** Elements of the chunk. */
  "count",
  "keyShift",
  "valueShift",
  "maskShift",
  "flagShift",
  /** A home slot shifted right by this is its partition; how many there are. */
  "partitionShift",
  "partitions",
  /** A power of two. */
  "pagesPerPartition",
  /** Items that a page of the staging memory has room for; 0 when pages are whole partitions and lie one after another. */
  "pageRoom",
  /** Pages that this dispatch works on, and the first slot of the table binding. */
  "firstPage",
  "pages",
  "windowFirst",
  /** Elements that the fallback columns or the worklist have room for. */
  "fallbackRoom",
  /** Overflow propagation: how many pages before its own the overflow comes from, and how many there are at most. */
  "propagation",
  "propagations",
  /** Bit pattern of the value for absent keys, or for fresh slots of an insertOrApply. */
  "fill",
  /** The value that stands for an absent key between the kernels of a lookup. */
  "sentinel",
  /** No key is this many slots or more after its home. */
  "maxProbe",
  /** Slots behind the window's last one that are bound. */
  "behind",
] as const;

export type PartitionParam = (typeof partitionParams)[number];

/** Items are keys alone, or pairs. */
export type ItemKind = "key" | "pair";

/** What an invocation of a page's kernel takes. */
export interface PerInvocation {
  items: number;
  /** Slots that it holds. */
  held: number;
  /** Slots that it looks at in one step of a probe. */
  step: number;
}

/** What suits a device. */
export interface PartitionFeatures {
  readonly subgroups: boolean;
  readonly software: boolean;
  /** In place of cas-seen.wgsl. */
  readonly casSeen?: string;
}

/** How histogram, scatter and sub-partition cut tiles: items that an invocation takes, loads in flight at once; and rounds of them. */
export function tileShape(software: boolean): { readonly items: number; readonly rounds: number } {
  // a software GPU's compiler takes seconds for what the loops over items unroll to
  return software ? { items: 2, rounds: 1 } : { items: 12, rounds: 3 };
}

/** Times that a value meets another one in workgroup memory before its item goes another way: more than a tile has items. */
const MEETINGS = 8192;

const SIZE = ["WORKGROUP", "BINS"] as const;

const pageFragment = fragment(page, { bindings: { ranges: read() }, constants: ["PAGE"] });
const overflowFragment = fragment(overflow, {
  bindings: { overflows: readWrite("array<Item>") },
  constants: ["OVERFLOW"],
});
const fallbackFragment = fragment(fallbackColumns, {
  bindings: { fallbackKeys: readWrite(), fallbackValues: readWrite() },
  constants: ["FALLBACK_VALUES"],
});
const selectedFragment = fragment(selected, { bindings: { mask: read() }, constants: ["MASKED"] });
const placesFragments = [fragment(places), fragment(notePlaces, { bindings: { places: readWrite() } })];
const readPlacesFragments = [fragment(places), fragment(readPlaces, { bindings: { places: read() } })];

/** Constants of a module, so that arrays of such lengths stay in registers. */
const invocationConstants = ({ items, held, step }: PerInvocation) =>
  fragment(constantLines({ ITEMS: items, HELD: held, STEP: step }));

/** What combines values in workgroup memory. */
function merging(combining: Combining) {
  const target = {
    memory: "merged",
    exchanged: "atomicCompareExchangeWeak(&merged[at], bitcast<Value>(old), bitcast<Value>(next)).exchanged",
    meetings: MEETINGS,
  };
  return [
    fragment(`alias Value = ${atomicType(combining)};`),
    fragment(combiningCode(combining, target)),
    fragment(merge, { constants: ["MERGED"] }),
  ];
}

/** All partition kernels for tables of one kind, in the form that suits a device. Each is made once. */
export class PartitionKernels {
  readonly #spec: TableSpec;
  readonly #features: PartitionFeatures;
  readonly #made = new Map<string, unknown>();

  constructor(spec: TableSpec, features: PartitionFeatures) {
    this.#spec = spec;
    this.#features = features;
  }

  readonly histogram = this.#lazily("histogram", () =>
    kernelSource("histogram", partitionParams, [
      ...this.#probing,
      selectedFragment,
      this.#tiles,
      fragment(histogram, {
        bindings: { keys: read(), counts: readWrite("array<atomic<u32>>") },
        constants: [...SIZE, "SAMPLE"],
      }),
    ]),
  );

  readonly offsets = this.#lazily("offsets", () =>
    kernelSource("offsets", partitionParams, [
      fragment(offsets, {
        bindings: { counts: read(), starts: readWrite(), cursors: readWrite() },
        constants: [...SIZE, "SAMPLE"],
      }),
    ]),
  );

  readonly pad = this.#lazily("pad", () =>
    kernelSource("pad", partitionParams, [
      fragment(pad, { bindings: { starts: read(), ends: read(), keys: readWrite() }, constants: SIZE }),
    ]),
  );

  /** Brings results from the order of the partitions to that of the batch. */
  readonly unpermute = this.#lazily("unpermute", () =>
    kernelSource("unpermute", partitionParams, [
      this.#tiles,
      ...readPlacesFragments,
      fragment(unpermute, {
        bindings: { itemValues: read(), itemFlags: read(), values: readWrite(), flags: readWrite() },
        constants: [
          ...SIZE,
          "VALUED",
          "FLAGGED",
          /** params.sentinel is the value of absent keys: flags come from the values. */
          "SENTINELS",
        ],
      }),
    ]),
  );

  /** Brings results of pages back to the order of the partitions. */
  readonly gather = this.#lazily("gather", () =>
    kernelSource("gather", partitionParams, [
      ...this.#probing,
      control,
      this.#tiles,
      ...readPlacesFragments,
      fragment(tileNumber),
      fragment(gather, {
        bindings: {
          partitionStarts: read(),
          partitionEnds: read(),
          results: read(),
          values: readWrite(),
          list: readWrite("array<vec2u>"),
        },
        constants: [...SIZE, "PARTITION_BINS"],
      }),
    ]),
  );

  /** Puts a chunk in the order of its partitions: in columns, or as items. */
  scatter(kind: ItemKind, put: "columns" | "items", combining = NOT_COMBINING) {
    const putting =
      put === "columns"
        ? fragment(putColumns, { bindings: { itemKeys: readWrite(), itemValues: readWrite() } })
        : fragment(putItems, { bindings: { items: readWrite("array<Item>") } });
    const label = `scatter ${kind} ${put}`;
    return this.#once(`${label} ${combining.op} ${combining.type}`, () =>
      kernelSource(label, partitionParams, [
        ...this.#pack,
        ...this.#probing,
        ...merging(combining),
        ...this.#distinct,
        fragment(itemCode(kind)),
        putting,
        selectedFragment,
        this.#tiles,
        fragment(tile, { constants: SIZE }),
        ...placesFragments,
        fragment(scatter, {
          bindings: { cursors: readWrite("array<atomic<u32>>"), keys: read(), values: read() },
          constants: [
            /** Note where elements go (places.wgsl), so that results can be brought back to input order. */
            "PLACED",
            /** Items have the element's value. */
            "VALUED",
            /** Partitions have the room that a sample told: a run that does not fit is lost, and the host has the chunk split again. */
            "SAMPLED",
          ],
        }),
      ]),
    );
  }

  /** Splits partitions into pages. What pages have no room for is left to the fallback; or it is noted where items went. */
  subPartition(kind: ItemKind, combining = NOT_COMBINING, noted = false) {
    const leaving = noted
      ? [fragment(fallbackNone), ...placesFragments]
      : [fallbackFragment, fragment(noteNone)];
    const label = `sub-partition ${kind}${noted ? " noted" : ""}`;
    return this.#once(`${label} ${combining.op} ${combining.type}`, () =>
      kernelSource(label, partitionParams, [
        ...this.#pack,
        ...this.#probing,
        control,
        ...merging(combining),
        ...this.#distinct,
        fragment(itemCode(kind)),
        ...leaving,
        this.#tiles,
        fragment(tile, { constants: SIZE }),
        fragment(tileNumber),
        fragment(subPartition, {
          bindings: {
            partitions: read("array<Item>"),
            partitionStarts: read(),
            partitionEnds: read(),
            cursors: readWrite("array<atomic<u32>>"),
            items: readWrite("array<Item>"),
          },
          constants: ["PAGE_SHIFT", "PARTITION_BINS"],
        }),
      ]),
    );
  }

  /** Looks items up in their pages. */
  pageFind(each: PerInvocation) {
    return this.#once(`page-find ${each.items} ${each.held}`, () =>
      kernelSource("page-find", partitionParams, [
        ...this.#probing,
        control,
        pageFragment,
        fragment(itemCode("key")),
        invocationConstants(each),
        fragment(pageFind, {
          bindings: {
            slots: read("array<Slot>"),
            items: readWrite("array<Item>"),
            behind: read("array<Slot>"),
          },
          constants: ["WORKGROUP", "VALUED"],
        }),
      ]),
    );
  }

  /** Copies entries among the items of their pages. */
  extract(kind: ItemKind, each: PerInvocation) {
    return this.#once(`extract ${kind} ${each.held}`, () =>
      kernelSource("extract", partitionParams, [
        ...this.#probing,
        control,
        fragment(itemCode(kind)),
        invocationConstants(each),
        fragment(extract, {
          bindings: {
            slots: read("array<Item>"),
            cursors: readWrite("array<atomic<u32>>"),
            items: readWrite("array<Item>"),
            overflowed: readWrite("array<atomic<u32>>"),
          },
          constants: ["WORKGROUP", "PAGE", "OVERFLOW"],
        }),
      ]),
    );
  }

  /** Builds pages. */
  build(kind: ItemKind, combining = NOT_COMBINING) {
    const common = () => [
      ...this.#probing,
      control,
      pageFragment,
      fragment(itemCode(kind)),
      fallbackFragment,
      overflowFragment,
    ];
    return {
      page: (each: PerInvocation) =>
        this.#once(`build ${kind} ${each.items} ${combining.op} ${combining.type}`, () =>
          kernelSource("build", partitionParams, [
            ...this.#scanHomes,
            ...common(),
            fragment(overflowNotes),
            ...merging(combining),
            invocationConstants(each),
            fragment(pageBuild, {
              bindings: { table: readWrite("array<Item>"), items: read("array<Item>"), entries: read() },
              constants: [
                "WORKGROUP",
                /** The page's items begin with entries. */
                "REBUILDS",
                /** New items come before entries with their keys. */
                "ASSIGNS",
                /** Values of items that are left out are combined with that of the one that is kept. */
                "COMBINES",
              ],
            }),
          ]),
        ),
      workgroup: 256,
      propagatePages: 16,
      propagate: this.#once(`propagate-build ${kind}`, () =>
        kernelSource("propagate-build", partitionParams, [
          ...common(),
          fragment(propagate),
          fragment(propagateBuild, { bindings: { table: readWrite("array<Item>") } }),
        ]),
      ),
    } satisfies PageKernels;
  }

  /** Takes keys out of pages. */
  erase() {
    const common = () => [
      ...this.#probing,
      control,
      pageFragment,
      fragment(itemCode("key")),
      fragment(erasingCode(slotFormat(this.#spec)), { bindings: { slots: readWrite("array<Slot>") } }),
      fallbackFragment,
      overflowFragment,
    ];
    return {
      page: (each: PerInvocation) =>
        this.#once(`page-erase ${each.items} ${each.step}`, () =>
          kernelSource("page-erase", partitionParams, [
            ...common(),
            fragment(overflowNotes),
            fragment(pageProbe),
            invocationConstants(each),
            fragment(pageErase, { bindings: { items: read("array<Item>") }, constants: ["WORKGROUP"] }),
          ]),
        ),
      workgroup: 512,
      propagatePages: 64,
      propagate: this.#once("propagate-erase", () =>
        kernelSource("propagate-erase", partitionParams, [
          ...common(),
          fragment(propagate),
          fragment(propagateErase),
        ]),
      ),
    } satisfies PageKernels;
  }

  get #probing() {
    return [probing(this.#spec), fragment(homes)];
  }

  get #tiles() {
    const { items, rounds } = tileShape(this.#features.software);
    return fragment(constantLines({ ITEMS: items, ROUNDS: rounds }));
  }

  get #lanes() {
    return this.#features.subgroups
      ? fragment(lanesSubgroups, { enables: ["subgroups"] })
      : fragment(lanesPlain);
  }

  get #pack() {
    return [this.#lanes, fragment(this.#features.subgroups ? packSubgroups : packPlain)];
  }

  get #scanHomes() {
    return [this.#lanes, fragment(this.#features.subgroups ? scanHomesSubgroups : scanHomesPlain)];
  }

  get #distinct() {
    const constants = [
      /** Items may be left out, if the batch is skewed. */
      "DISTINCT",
      /** The values of items that are left out are combined with that of the first. */
      "MERGES",
      /** Keys that are remembered; a power of two. */
      "SEEN",
    ] as const;
    return [fragment(this.#features.casSeen ?? casSeen), fragment(distinct, { constants })];
  }

  #lazily<T>(name: string, make: () => T): () => T {
    return () => this.#once(name, make);
  }

  #once<T>(name: string, make: () => T): T {
    let made = this.#made.get(name) as T | undefined;
    if (made === undefined) {
      made = make();
      this.#made.set(name, made);
    }
    return made;
  }
}

/** Bindings of the kernels that work on pages, by name; each has some of them. */
export type PageBinding =
  | "control"
  | "table"
  | "slots"
  | "ranges"
  | "items"
  | "overflows"
  | "fallbackKeys"
  | "fallbackValues"
  | "entries";

/** An operation on pages. */
export interface PageKernels {
  /** The kernel whose workgroups own a page each, of so many invocations at best. */
  page(each: PerInvocation): PageKernel;
  readonly workgroup: number;
  /** The kernel that goes on behind the pages' ends, and the pages that a workgroup of it takes. */
  readonly propagate: PageKernel;
  readonly propagatePages: number;
}

type PageKernel = KernelSource<PartitionParam, PageBinding>;
