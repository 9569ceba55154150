/**
 * What all partition kernels are made of: probing, tiles, and what leaves items out. Each kernel is made once for tables of one kind.
 */
import type { TableSpec } from "../../layout.js";
import { getOrMake } from "../device/get-or-make.js";
import { constantLines, fragment, readWrite } from "../device/kernel-source.js";
import { atomicType, type Combining, combiningCode } from "../direct/combine.js";
import { hashCode } from "../table/hash-code.js";
import { probingCode, slotCount } from "../table/slot-code.js";
import casSeen from "./cas-seen.wgsl";
import distinct from "./distinct.wgsl";
import fallbackColumns from "./fallback-columns.wgsl";
import homes from "./homes.wgsl";
import lanesPlain from "./lanes-plain.wgsl";
import lanesSubgroups from "./lanes-subgroups.wgsl";
import merge from "./merge.wgsl";
import packPlain from "./pack-plain.wgsl";
import packSubgroups from "./pack-subgroups.wgsl";
import type { PartitionFeatures } from "./partition-params.js";

/** How histogram, scatter and sub-partition cut tiles: items that an invocation takes, loads in flight at once; and rounds of them. */
export function tileShape(software: boolean): { readonly items: number; readonly rounds: number } {
  // a software GPU's compiler takes seconds for what the loops over items unroll to
  return software ? { items: 2, rounds: 1 } : { items: 12, rounds: 3 };
}

/** Times that a value meets another one in workgroup memory before its item goes another way: more than a tile has items. */
const MEETINGS = 8192;

/** What an item that a page has no room for is left to. */
export const fallbackFragment = fragment(fallbackColumns, {
  bindings: { fallbackKeys: readWrite(), fallbackValues: readWrite() },
  constants: ["FALLBACK_VALUES"],
});

/** What combines values in workgroup memory. */
export function merging(combining: Combining) {
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

/** Makes the kernels for tables of one kind, in the form that suits a device. */
export abstract class KernelMaker {
  protected readonly spec: TableSpec;
  protected readonly features: PartitionFeatures;
  readonly #made = new Map<string, unknown>();

  constructor(spec: TableSpec, features: PartitionFeatures) {
    this.spec = spec;
    this.features = features;
  }

  protected get probing() {
    return [fragment(probingCode(this.spec, hashCode(this.spec))), slotCount, fragment(homes)];
  }

  protected get tiles() {
    const { items, rounds } = tileShape(this.features.software);
    return fragment(constantLines({ ITEMS: items, ROUNDS: rounds }));
  }

  protected get lanes() {
    return this.features.subgroups
      ? fragment(lanesSubgroups, { enables: ["subgroups"] })
      : fragment(lanesPlain);
  }

  protected get pack() {
    return [this.lanes, fragment(this.features.subgroups ? packSubgroups : packPlain)];
  }

  protected get distinct() {
    const constants = [
      /** Items may be left out, if the batch is skewed. */
      "DISTINCT",
      /** The values of items that are left out are combined with that of the first. */
      "MERGES",
      /** Keys that are remembered; a power of two. */
      "SEEN",
    ] as const;
    return [fragment(this.features.casSeen ?? casSeen), fragment(distinct, { constants })];
  }

  /** @param name names all that the text of the kernel depends on, besides the maker. */
  protected once<T>(name: string, make: () => T): T {
    return getOrMake(this.#made as Map<string, T>, name, make);
  }
}
