/**
 * The partition kernels: which fragments make up each, and what they are told. They bring a chunk into the order of the
 * table's slots, so that the accesses that follow are local; see ARCHITECTURE.md, "The life of one partitioned find".
 */
import type { BindingKind, KernelSource } from "./kernel.js";
import control from "./kernels/control.wgsl";
import hash from "./kernels/hash.wgsl";
import build from "./kernels/partition/build.wgsl";
import eraseMap from "./kernels/partition/erase-map.wgsl";
import eraseSet from "./kernels/partition/erase-set.wgsl";
import histogram from "./kernels/partition/histogram.wgsl";
import itemKey from "./kernels/partition/item-key.wgsl";
import itemPair from "./kernels/partition/item-pair.wgsl";
import itemsFew from "./kernels/partition/items-few.wgsl";
import itemsMany from "./kernels/partition/items-many.wgsl";
import itemsSome from "./kernels/partition/items-some.wgsl";
import lanesPlain from "./kernels/partition/lanes-plain.wgsl";
import lanesSubgroups from "./kernels/partition/lanes-subgroups.wgsl";
import offsets from "./kernels/partition/offsets.wgsl";
import packPlain from "./kernels/partition/pack-plain.wgsl";
import packSubgroups from "./kernels/partition/pack-subgroups.wgsl";
import page from "./kernels/partition/page.wgsl";
import pageErase from "./kernels/partition/page-erase.wgsl";
import params from "./kernels/partition/params.wgsl";
import putColumns from "./kernels/partition/put-columns.wgsl";
import putItems from "./kernels/partition/put-items.wgsl";
import refine from "./kernels/partition/refine.wgsl";
import restore from "./kernels/partition/restore.wgsl";
import scanHomesPlain from "./kernels/partition/scan-homes-plain.wgsl";
import scanHomesSubgroups from "./kernels/partition/scan-homes-subgroups.wgsl";
import scatter from "./kernels/partition/scatter.wgsl";
import spillColumns from "./kernels/partition/spill-columns.wgsl";
import takeItems from "./kernels/partition/take-items.wgsl";
import probe from "./kernels/probe.wgsl";
import slotMap from "./kernels/slot-map.wgsl";
import slotSet from "./kernels/slot-set.wgsl";

const partitionParamNames = [
  "slots",
  "count",
  "keyShift",
  "valueShift",
  "maskShift",
  "flagShift",
  "partShift",
  "parts",
  "pagesOfPart",
  "pageRoom",
  "firstPage",
  "pages",
  "windowFirst",
  "spillRoom",
  "fill",
] as const;

/** What a dispatch is told: the fields of kernels/partition/params.wgsl. Fields left out are 0. */
export type PartitionParams = Partial<Record<(typeof partitionParamNames)[number], number>>;

/** The uniform's words. */
export function partitionParams(values: PartitionParams): Uint32Array<ArrayBuffer> {
  return Uint32Array.from(partitionParamNames, (name) => values[name] ?? 0);
}

/** Items are keys alone, or pairs. */
export type ItemKind = "key" | "pair";

const items = { key: itemKey, pair: itemPair };
const probing = [hash, params, probe];
const [u, r, s]: BindingKind[] = ["uniform", "read", "storage"];

/** All partition kernels, in the form that suits a device. */
export class PartitionKernels {
  /** Elements that an invocation of histogram, scatter and restore takes. */
  readonly items: number;
  /** Items that an invocation of refine takes. */
  readonly refineItems: number;
  readonly histogram: KernelSource;
  readonly offsets: KernelSource = { label: "offsets", code: [offsets], bindings: [u, s, r, s, s] };
  readonly restore: KernelSource;
  readonly #many: string;
  readonly #some: string;
  readonly #pack: readonly string[];
  readonly #scanHomes: readonly string[];

  constructor({ subgroups, software }: { subgroups: boolean; software: boolean }) {
    this.items = software ? 2 : 8;
    this.refineItems = software ? 2 : 4;
    this.#many = software ? itemsFew : itemsMany;
    this.#some = software ? itemsFew : itemsSome;
    this.histogram = {
      label: "histogram",
      code: [...probing, this.#many, histogram],
      bindings: [u, s, r, r, s],
    };
    this.restore = {
      label: "restore",
      code: [...probing, this.#many, restore],
      bindings: [u, r, r, r, s, s],
    };
    this.#pack = subgroups ? [lanesSubgroups, packSubgroups] : [lanesPlain, packPlain];
    this.#scanHomes = subgroups ? [lanesSubgroups, scanHomesSubgroups] : [lanesPlain, scanHomesPlain];
  }

  /** Puts a chunk in the order of its parts: in columns, or as items. */
  scatter(kind: ItemKind, put: "columns" | "items"): KernelSource {
    const putting = put === "columns" ? putColumns : putItems;
    return {
      label: `scatter ${kind} ${put}`,
      code: [...this.#pack, ...probing, items[kind], putting, this.#many, scatter],
      bindings: [u, s, r, r, r, s, s, s],
    };
  }

  /** Splits parts into pages. */
  refine(kind: ItemKind): KernelSource {
    return {
      label: `refine ${kind}`,
      code: [...this.#pack, ...probing, control, items[kind], takeItems, spillColumns, this.#some, refine],
      bindings: [u, s, r, r, s, s, s, s],
    };
  }

  /** Builds the pages of an empty table. */
  build(kind: ItemKind): KernelSource {
    return {
      label: `build ${kind}`,
      code: [...this.#scanHomes, ...probing, control, page, items[kind], spillColumns, build],
      bindings: [u, s, s, r, r, r, s, s],
    };
  }

  /** Takes keys out of pages: of a set's, or of a map's, whose slots are pairs. */
  erase(slots: ItemKind): KernelSource {
    const slot = slots === "key" ? [slotSet, eraseSet] : [slotMap, eraseMap];
    return {
      label: `page-erase ${slots}`,
      code: [...probing, control, page, itemKey, ...slot, spillColumns, pageErase],
      bindings: [u, s, s, r, r, r, s, s],
    };
  }
}
