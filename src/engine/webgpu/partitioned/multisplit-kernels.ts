/**
 * The kernels of the multisplit: they bring a chunk into the order of the table's slots, so that the accesses that
 * follow are local, and results back; see docs/internals/partitioned.md.
 */

import { kernelSource, read, readWrite } from "../../gpu/kernel-source.js";
import type { ItemKind } from "../../gpu/partitioning.js";
import { wgsl } from "../device/module-code.js";
import { NOT_COMBINING } from "../direct/combine.js";
import { control } from "../table/control.js";
import { foundColumnCode } from "../table/slot-code.js";
import fallbackNone from "./fallback-none.wgsl";
import gather from "./gather.wgsl";
import histogram from "./histogram.wgsl";
import { carriedCode } from "./item-code.js";
import { fallbackFragment, KernelMaker } from "./kernel-maker.js";
import noteNone from "./note-none.wgsl";
import notePlaces from "./note-places.wgsl";
import offsets from "./offsets.wgsl";
import { partitionParams } from "./partition-params.js";
import places from "./places.wgsl";
import putColumns from "./put-columns.wgsl";
import putItems from "./put-items.wgsl";
import readPlaces from "./read-places.wgsl";
import scatter from "./scatter.wgsl";
import selected from "./selected.wgsl";
import subPartition from "./sub-partition.wgsl";
import tile from "./tile.wgsl";
import tileNumber from "./tile-number.wgsl";
import unpermute from "./unpermute.wgsl";

const SIZE = ["WORKGROUP", "BINS"] as const;

const selectedFragment = wgsl(selected, { bindings: { mask: read() }, constants: ["MASKED"] });
const placesFragments = [wgsl(places), wgsl(notePlaces, { bindings: { places: readWrite() } })];
const readPlacesFragments = [wgsl(places), wgsl(readPlaces, { bindings: { places: read() } })];

export class MultisplitKernels extends KernelMaker {
  histogram() {
    return this.once("histogram", () =>
      kernelSource("histogram", partitionParams, [
        ...this.probing,
        selectedFragment,
        this.keyColumn,
        this.tiles("key"),
        wgsl(histogram, {
          bindings: { keys: read(), counts: readWrite("array<atomic<u32>>") },
          constants: [...SIZE, "SAMPLE"],
        }),
      ]),
    );
  }

  offsets() {
    return this.once("offsets", () =>
      kernelSource("offsets", partitionParams, [
        wgsl(offsets, {
          bindings: { counts: read(), starts: readWrite(), cursors: readWrite() },
          constants: [...SIZE, "SAMPLE"],
        }),
      ]),
    );
  }

  /** Brings results from the order of the partitions to that of the batch. */
  unpermute(kind: ItemKind) {
    return this.once(`unpermute ${kind}`, () =>
      kernelSource("unpermute", partitionParams, [
        ...this.probing,
        control,
        wgsl(foundColumnCode(this.format)),
        this.tiles(kind),
        ...readPlacesFragments,
        wgsl(unpermute, {
          bindings: {
            itemValues: read("array<Found>"),
            itemFlags: read(),
            values: readWrite(),
            flags: readWrite(),
          },
          constants: [...SIZE, "VALUED", "FLAGGED", "MARKED"],
        }),
      ]),
    );
  }

  /** Brings results of pages back to the order of the partitions. */
  gather() {
    return this.once("gather", () =>
      kernelSource("gather", partitionParams, [
        ...this.probing,
        control,
        this.tiles("key"),
        ...readPlacesFragments,
        wgsl(tileNumber),
        wgsl(gather, {
          bindings: {
            partitionStarts: read(),
            partitionEnds: read(),
            results: read("array<Found>"),
            values: readWrite("array<Found>"),
            list: readWrite("array<vec2u>"),
          },
          constants: [...SIZE, "PARTITION_BINS"],
        }),
      ]),
    );
  }

  /** Puts a chunk in the order of its partitions: in columns, or as items. */
  scatter(kind: ItemKind, put: "columns" | "items", combining = NOT_COMBINING) {
    const putting =
      put === "columns"
        ? wgsl(putColumns, {
            bindings: { itemKeys: readWrite("array<Key>"), itemValues: readWrite("array<Carried>") },
          })
        : wgsl(putItems, { bindings: { items: readWrite("array<Item>") } });
    const label = `scatter ${kind} ${put}`;
    return this.once(`${label} ${combining.op} ${combining.type}`, () =>
      kernelSource(label, partitionParams, [
        ...this.pack,
        ...this.probing,
        ...this.distinct(combining, "keyOf(number)"),
        this.items(kind),
        wgsl(carriedCode(this.format, kind)),
        this.keyColumn,
        putting,
        selectedFragment,
        this.tiles(kind),
        wgsl(tile, { constants: SIZE }),
        ...placesFragments,
        wgsl(scatter, {
          bindings: { cursors: readWrite("array<atomic<u32>>"), keys: read(), values: read() },
          constants: [
            /** Note where elements go (places.wgsl), so that results can be brought back to input order. */
            "PLACED",
            /** Items have the element's value. */
            "VALUED",
            /**
             * Partitions have the room that a sample told: a run that does not fit is lost, and the host has the chunk
             * split again.
             */
            "SAMPLED",
          ],
        }),
      ]),
    );
  }

  /**
   * Splits partitions into pages. What pages have no room for is left to the fallback; or it is noted where items went.
   */
  subPartition(kind: ItemKind, combining = NOT_COMBINING, noted = false) {
    const leaving = noted ? [wgsl(fallbackNone), ...placesFragments] : [fallbackFragment, wgsl(noteNone)];
    const label = `sub-partition ${kind}${noted ? " noted" : ""}`;
    return this.once(`${label} ${combining.op} ${combining.type}`, () =>
      kernelSource(label, partitionParams, [
        ...this.pack,
        ...this.probing,
        control,
        ...this.distinct(combining, "itemKey(partitions[number])"),
        this.items(kind),
        ...leaving,
        this.tiles(kind),
        wgsl(tile, { constants: SIZE }),
        wgsl(tileNumber),
        wgsl(subPartition, {
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
}
