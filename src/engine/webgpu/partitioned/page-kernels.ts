/** The kernels whose workgroups own pages. */

import { type KernelSource, kernelSource, read, readWrite } from "../../gpu/kernel-source.js";
import type { ItemKind } from "../../gpu/partitioning.js";
import { wgsl } from "../device/module-code.js";
import { type Combining, NOT_COMBINING } from "../direct/combine.js";
import { control } from "../table/control.js";
import extract from "./extract.wgsl";
import { asFoundCode, erasingCode } from "./item-code.js";
import { fallbackFragment, KernelMaker, lanes, merging } from "./kernel-maker.js";
import overflow from "./overflow.wgsl";
import overflowNotes from "./overflow-notes.wgsl";
import page from "./page.wgsl";
import pageBuild from "./page-build.wgsl";
import pageErase from "./page-erase.wgsl";
import pageFind from "./page-find.wgsl";
import pageMerge from "./page-merge.wgsl";
import pageMergeNone from "./page-merge-none.wgsl";
import pageProbe from "./page-probe.wgsl";
import { type PartitionParam, partitionParams } from "./partition-params.js";
import propagate from "./propagate.wgsl";
import propagateBuild from "./propagate-build.wgsl";
import propagateErase from "./propagate-erase.wgsl";
import scanHomesPlain from "./scan-homes-plain.wgsl";
import scanHomesSubgroups from "./scan-homes-subgroups.wgsl";

const pageFragment = wgsl(page, { bindings: { ranges: read() }, constants: ["PAGE"] });
const overflowFragment = wgsl(overflow, {
  bindings: { overflows: readWrite("array<Item>") },
  constants: ["OVERFLOW"],
});
export class PageKernelMaker extends KernelMaker {
  pageFind() {
    return this.once("page-find", () =>
      kernelSource("page-find", partitionParams, [
        ...this.probing,
        control,
        pageFragment,
        this.items("key"),
        wgsl(asFoundCode(this.format)),
        wgsl(pageFind, {
          bindings: {
            slots: read("array<Slot>"),
            items: read("array<Item>"),
            results: readWrite("array<Found>"),
            behind: read("array<Slot>"),
          },
          constants: ["WORKGROUP", "ITEMS", "HELD"],
        }),
      ]),
    );
  }

  /** Copies entries among the items of their pages. */
  extract(kind: ItemKind) {
    return this.once(`extract ${kind}`, () =>
      kernelSource("extract", partitionParams, [
        ...this.probing,
        control,
        ...this.slotItems(kind),
        wgsl(extract, {
          bindings: {
            slots: read("array<Slot>"),
            cursors: readWrite("array<atomic<u32>>"),
            items: readWrite("array<Item>"),
            overflowed: readWrite("array<atomic<u32>>"),
          },
          constants: ["WORKGROUP", "HELD", "PAGE", "OVERFLOW"],
        }),
      ]),
    );
  }

  build(kind: ItemKind, combining = NOT_COMBINING) {
    const common = () => [
      ...this.probing,
      control,
      pageFragment,
      ...this.slotItems(kind),
      fallbackFragment,
      overflowFragment,
    ];
    return {
      page: this.once(`build ${kind} ${combining.op} ${combining.type}`, () =>
        kernelSource("build", partitionParams, [
          ...this.#scanHomes,
          ...common(),
          wgsl(overflowNotes),
          ...this.#merging(combining),
          wgsl(pageBuild, {
            bindings: { table: readWrite("array<Slot>"), items: read("array<Item>"), entries: read() },
            constants: [
              "WORKGROUP",
              "ITEMS",
              /** The page's items begin with entries. */
              "REBUILDS",
              /** New items come before entries with their keys. */
              "ASSIGNS",
            ],
          }),
        ]),
      ),
      workgroup: 256,
      propagatePages: 16,
      propagate: this.once(`propagate-build ${kind}`, () =>
        kernelSource("propagate-build", partitionParams, [
          ...common(),
          wgsl(propagate),
          wgsl(propagateBuild, { bindings: { table: readWrite("array<Slot>") } }),
        ]),
      ),
    } satisfies PageKernels;
  }

  erase() {
    const common = () => [
      ...this.probing,
      control,
      pageFragment,
      this.items("key"),
      wgsl(erasingCode(this.format), { bindings: { slots: readWrite("array<Slot>") } }),
      fallbackFragment,
      overflowFragment,
    ];
    return {
      page: this.once("page-erase", () =>
        kernelSource("page-erase", partitionParams, [
          ...common(),
          wgsl(overflowNotes),
          wgsl(pageProbe, { constants: ["STEP"] }),
          wgsl(pageErase, {
            bindings: { items: read("array<Item>") },
            constants: ["WORKGROUP", "ITEMS"],
          }),
        ]),
      ),
      workgroup: 512,
      propagatePages: 64,
      propagate: this.once("propagate-erase", () =>
        kernelSource("propagate-erase", partitionParams, [
          ...common(),
          wgsl(propagate),
          wgsl(propagateErase),
        ]),
      ),
    } satisfies PageKernels;
  }

  /** Values that are combined in a page's memory: of one word. */
  #merging(combining: Combining) {
    if (this.wide) return [wgsl(pageMergeNone)];
    /** Values of items that are left out are combined with that of the one that is kept. */
    const constants = ["COMBINES"] as const;
    return [...merging(combining), wgsl(pageMerge, { constants })];
  }

  get #scanHomes() {
    return [lanes, wgsl(this.traits.subgroupSize > 0 ? scanHomesSubgroups : scanHomesPlain)];
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

export interface PageKernels {
  /** The kernel whose workgroups own a page each, of so many invocations at best. */
  readonly page: PageKernel;
  readonly workgroup: number;
  /** The kernel that goes on behind the pages' ends, and the pages that a workgroup of it takes. */
  readonly propagate: PageKernel;
  readonly propagatePages: number;
}

type PageKernel = KernelSource<PartitionParam, PageBinding>;
