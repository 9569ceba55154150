/**
 * The partition kernels: which fragments make up each, and what they are told. They bring a chunk into the order of the
 * table's slots, so that the accesses that follow are local; see ARCHITECTURE.md, "The life of one partitioned find".
 */
import type { ValueType } from "../../scalars.js";
import type { BindingKind, KernelSource } from "../device/kernel.js";
import combine from "../direct/combine.wgsl";
import control from "../table/control.wgsl";
import hash from "../table/hash.wgsl";
import probe from "../table/probe.wgsl";
import slotMap from "../table/slot-map.wgsl";
import slotSet from "../table/slot-set.wgsl";
import casSeen from "./cas-seen.wgsl";
import distinct from "./distinct.wgsl";
import eraseMap from "./erase-map.wgsl";
import eraseSet from "./erase-set.wgsl";
import extract from "./extract.wgsl";
import fallbackColumns from "./fallback-columns.wgsl";
import fallbackNone from "./fallback-none.wgsl";
import gather from "./gather.wgsl";
import histogram from "./histogram.wgsl";
import itemKey from "./item-key.wgsl";
import itemPair from "./item-pair.wgsl";
import lanesPlain from "./lanes-plain.wgsl";
import lanesSubgroups from "./lanes-subgroups.wgsl";
import merge from "./merge.wgsl";
import noteNothing from "./note-none.wgsl";
import notePlaces from "./note-places.wgsl";
import offsets from "./offsets.wgsl";
import overflow from "./overflow.wgsl";
import overflowNotes from "./overflow-notes.wgsl";
import packPlain from "./pack-plain.wgsl";
import packSubgroups from "./pack-subgroups.wgsl";
import pad from "./pad.wgsl";
import page from "./page.wgsl";
import build from "./page-build.wgsl";
import pageErase from "./page-erase.wgsl";
import pageFind from "./page-find.wgsl";
import pageProbe from "./page-probe.wgsl";
import params from "./partition-params.wgsl";
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
import tilesLong from "./tiles-long.wgsl";
import tilesShort from "./tiles-short.wgsl";
import unpermute from "./unpermute.wgsl";

const partitionParamNames = [
  "slots",
  "count",
  "keyShift",
  "valueShift",
  "maskShift",
  "flagShift",
  "partitionShift",
  "partitions",
  "pagesPerPartition",
  "pageRoom",
  "firstPage",
  "pages",
  "windowFirst",
  "fallbackRoom",
  "propagation",
  "propagations",
  "fill",
  "sentinel",
  "maxProbe",
  "behind",
] as const;

/** What a dispatch is told: the fields of partition-params.wgsl. Fields left out are 0. */
export type PartitionParams = Partial<Record<(typeof partitionParamNames)[number], number>>;

/** The uniform's words. */
export function partitionParams(values: PartitionParams): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(partitionParamNames.length);
  partitionParamNames.forEach((name, i) => {
    words[i] = values[name] ?? 0;
  });
  return words;
}

/** Items are keys alone, or pairs. */
export type ItemKind = "key" | "pair";

const items = { key: itemKey, pair: itemPair };
const probing = [hash, params, probe];
const [u, r, s]: BindingKind[] = ["uniform", "read", "storage"];
const pageBindings = [u, s, s, r, r, s, s, s];

/** All partition kernels, in the form that suits a device. */
export class PartitionKernels {
  /** How histogram, scatter and sub-partition cut tiles: the constants of kernels/partition/tiles-*.wgsl. */
  readonly tiles: { readonly items: number; readonly rounds: number };
  readonly histogram: KernelSource;
  readonly offsets: KernelSource = {
    label: "offsets",
    code: [...probing, offsets],
    bindings: [u, s, r, s, s],
  };
  readonly pad: KernelSource = { label: "pad", code: [...probing, pad], bindings: [u, r, r, s] };
  readonly unpermute: KernelSource;
  /** Brings results of pages back to the order of the partitions. */
  readonly gather: KernelSource;
  readonly #tiles: string;
  readonly #pack: readonly string[];
  readonly #scanHomes: readonly string[];
  readonly #distinct: readonly string[];

  /** @param cas in place of cas-seen.wgsl. */
  constructor({ subgroups, software }: { subgroups: boolean; software: boolean }, cas = casSeen) {
    this.#distinct = [cas, distinct];
    this.tiles = software ? { items: 2, rounds: 1 } : { items: 12, rounds: 3 };
    this.#tiles = software ? tilesShort : tilesLong;
    this.histogram = {
      label: "histogram",
      code: [...probing, selected, this.#tiles, histogram],
      bindings: [u, s, r, s, r],
    };
    this.unpermute = {
      label: "unpermute",
      code: [...probing, this.#tiles, places, readPlaces, unpermute],
      bindings: [u, r, r, r, s, s],
    };
    this.gather = {
      label: "gather",
      code: [...probing, control, this.#tiles, places, readPlaces, tileNumber, gather],
      bindings: [u, s, r, r, r, r, s, s],
    };
    this.#pack = subgroups ? [lanesSubgroups, packSubgroups] : [lanesPlain, packPlain];
    this.#scanHomes = subgroups ? [lanesSubgroups, scanHomesSubgroups] : [lanesPlain, scanHomesPlain];
  }

  /** Puts a chunk in the order of its partitions: in columns, or as items. Values are of a type where they are combined. */
  scatter(kind: ItemKind, put: "columns" | "items", value: ValueType = "u32"): KernelSource {
    const putting = put === "columns" ? putColumns : putItems;
    return {
      label: `scatter ${kind} ${put}${suffix(value)}`,
      code: [
        ...this.#pack,
        ...probing,
        ...merging(value),
        ...this.#distinct,
        items[kind],
        putting,
        selected,
        this.#tiles,
        tile,
        places,
        notePlaces,
        scatter,
      ],
      bindings: [u, s, r, r, r, s, s, s],
    };
  }

  /** Splits partitions into pages. What pages have no room for is left to the fallback; or it is noted where items went. */
  subPartition(kind: ItemKind, value: ValueType = "u32", noted = false): KernelSource {
    return {
      label: `sub-partition ${kind}${suffix(value)}${noted ? " noted" : ""}`,
      code: [
        ...this.#pack,
        ...probing,
        control,
        ...merging(value),
        ...this.#distinct,
        items[kind],
        ...(noted ? [fallbackNone, places, notePlaces] : [fallbackColumns, noteNothing]),
        this.#tiles,
        tile,
        tileNumber,
        subPartition,
      ],
      bindings: [u, s, r, r, s, s, s, s, r],
    };
  }

  /** Looks items up in their pages: of a set's, or of a map's. */
  pageFind(slots: ItemKind, perInvocation: PerInvocation): KernelSource {
    const slot = slots === "key" ? slotSet : slotMap;
    return {
      label: `page-find ${slots} ${perInvocation.items}`,
      code: [...probing, control, page, itemKey, slot, invocationConstants(perInvocation), pageFind],
      bindings: [u, s, r, r, s, r],
    };
  }

  /** Copies entries among the items of their pages. */
  extract(kind: ItemKind, perInvocation: PerInvocation): KernelSource {
    return {
      label: `extract ${kind} ${perInvocation.held}`,
      code: [...probing, control, items[kind], invocationConstants(perInvocation), extract],
      bindings: [u, s, r, s, s, s],
    };
  }

  /** Builds pages. Values are of a type where they are combined. */
  build(kind: ItemKind, value: ValueType = "u32"): PageKernels {
    const fragments = [...probing, control, page, items[kind], fallbackColumns, overflow];
    return {
      page: (perInvocation) => ({
        label: `build ${kind} ${perInvocation.items}${suffix(value)}`,
        code: [
          ...this.#scanHomes,
          ...fragments,
          overflowNotes,
          ...merging(value),
          invocationConstants(perInvocation),
          build,
        ],
        bindings: [...pageBindings, r],
      }),
      workgroup: 256,
      propagatePages: 16,
      propagate: {
        label: `propagate-build ${kind}`,
        code: [...fragments, propagate, propagateBuild],
        bindings: pageBindings,
      },
    };
  }

  /** Takes keys out of pages: of a set's, or of a map's, whose slots are pairs. */
  erase(slots: ItemKind): PageKernels {
    const slot = slots === "key" ? [slotSet, eraseSet] : [slotMap, eraseMap];
    const fragments = [...probing, control, page, itemKey, ...slot, fallbackColumns, overflow];
    return {
      page: (perInvocation) => ({
        label: `page-erase ${slots} ${perInvocation.items}/${perInvocation.step}`,
        code: [...fragments, overflowNotes, pageProbe, invocationConstants(perInvocation), pageErase],
        bindings: pageBindings,
      }),
      workgroup: 512,
      propagatePages: 64,
      propagate: {
        label: `propagate-erase ${slots}`,
        code: [...fragments, propagate, propagateErase],
        bindings: pageBindings,
      },
    };
  }
}

/** An operation on pages. */
export interface PageKernels {
  /** The kernel whose workgroups own a page each, of so many invocations at best. */
  page(perInvocation: PerInvocation): KernelSource;
  readonly workgroup: number;
  /** The kernel that goes on behind the pages' ends, and the pages that a workgroup of it takes. */
  readonly propagate: KernelSource;
  readonly propagatePages: number;
}

/** What an invocation of a page's kernel takes. */
export interface PerInvocation {
  items: number;
  /** Slots that it holds. */
  held: number;
  /** Slots that it looks at in one step of a probe. */
  step: number;
}

/** Constants of the module, not overrides: arrays of such lengths stay in registers. */
function invocationConstants({ items, held, step }: PerInvocation): string {
  return `const ITEMS: u32 = ${items}u; const HELD: u32 = ${held}u; const STEP: u32 = ${step}u;`;
}

/** What combines values in workgroup memory. */
function merging(value: ValueType): string[] {
  return [`alias Value = ${value === "i32" ? "i32" : "u32"};`, combine, merge];
}

/** In the label of what has `merging`. */
function suffix(value: ValueType): string {
  return value === "i32" ? " i32" : "";
}
