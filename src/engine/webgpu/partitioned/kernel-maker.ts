/**
 * What all partition kernels are made of: probing, tiles, and what leaves items out. Each kernel is made once for
 * tables of one kind.
 */

import { getOrMake } from "../../gpu/get-or-make.js";
import { fragment, readWrite } from "../../gpu/kernel-source.js";
import type { ItemKind } from "../../gpu/partitioning.js";
import type { GpuTraits } from "../../gpu/runtime.js";
import { tileShape } from "../../gpu/tiles.js";
import type { TableSpec } from "../../layout.js";
import { isWide, type SlotFormat, slotFormat } from "../../slot-format.js";
import { constantLines, wgsl } from "../device/module-code.js";
import { atomicType, type Combining, combiningCode } from "../direct/combine.js";
import { keyColumn } from "../direct/direct-kernels.js";
import { rowKeyColumn, rowProbing } from "../direct/row-claims.js";
import { hashCode } from "../table/hash-code.js";
import { slotCount } from "../table/plain-slots.js";
import { probingCode } from "../table/slot-code.js";
import distinct from "./distinct.wgsl";
import distinctWide from "./distinct-wide.wgsl";
import fallbackColumns from "./fallback-columns.wgsl";
import homes from "./homes.wgsl";
import { itemCode, mixCode, slotItemCode } from "./item-code.js";
import merge from "./merge.wgsl";
import { tileWords } from "./partition-params.js";

/**
 * Times that a value meets another one in workgroup memory before its item goes another way: more than a tile has
 * items.
 */
const MEETINGS = 8192;

/** What invocations that run together tell each other: by subgroups, where there are. */
export const lanes = fragment("partitioned/lanes");

/** What an item that a page has no room for is left to. */
export const fallbackFragment = wgsl(fallbackColumns, {
  bindings: { fallbackKeys: readWrite("array<Key>"), fallbackValues: readWrite("array<Carried>") },
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
    wgsl(`alias Value = ${atomicType(combining)};`),
    wgsl(combiningCode(combining, target)),
    wgsl(merge, { constants: ["MERGED"] }),
  ];
}

/** Makes the kernels for tables of one kind, in the form that suits a device. */
export abstract class KernelMaker {
  protected readonly spec: TableSpec;
  protected readonly traits: GpuTraits;
  protected readonly format: SlotFormat;
  /** Slots hold more than a word of key and a word of value. */
  protected readonly wide: boolean;
  readonly #made = new Map<string, unknown>();

  constructor(spec: TableSpec, traits: GpuTraits) {
    this.spec = spec;
    this.traits = traits;
    this.format = slotFormat(spec);
    this.wide = isWide(this.format);
  }

  protected get probing() {
    const hashing = hashCode(this.spec);
    const code = this.format.claim === "key" ? probingCode : rowProbing;
    return [wgsl(code(this.spec, hashing)), slotCount, wgsl(homes)];
  }

  /** Reading the keys of a batch. For modules with params.keyShift and the binding `keys`. */
  protected get keyColumn() {
    return this.format.claim === "key" ? keyColumn : rowKeyColumn(this.format);
  }

  protected tiles(kind: ItemKind) {
    const { items, rounds } = tileShape(this.traits, tileWords(this.format, kind));
    return wgsl(constantLines({ ITEMS: items, ROUNDS: rounds }));
  }

  /** Items, and what is mixed of their keys. */
  protected items(kind: ItemKind) {
    return wgsl(itemCode(this.format, kind) + mixCode(this.format));
  }

  /** The same, for items that make up slots. */
  protected slotItems(kind: ItemKind) {
    return [this.items(kind), wgsl(slotItemCode(this.format, kind))];
  }

  protected get pack() {
    return [lanes, fragment("partitioned/pack")];
  }

  /** Leaving items out whose keys equal others. @param numberedKey the key of the item of a number */
  protected distinct(combining: Combining, numberedKey: string) {
    const constants = [
      /** Items may be left out, if the batch is skewed. */
      "DISTINCT",
      /** The values of items that are left out are combined with that of the first. */
      "MERGES",
      /** Keys that are remembered; a power of two. */
      "SEEN",
    ] as const;
    const exchange = fragment("partitioned/cas-seen");
    if (!this.wide) return [...merging(combining), exchange, wgsl(distinct, { constants })];
    const key = wgsl(`fn numberedKey(number: u32) -> Key { return ${numberedKey}; }`);
    return [exchange, key, wgsl(distinctWide, { constants })];
  }

  /** @param name names all that the text of the kernel depends on, besides the maker. */
  protected once<T>(name: string, make: () => T): T {
    return getOrMake(this.#made as Map<string, T>, name, make);
  }
}
