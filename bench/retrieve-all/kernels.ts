/** The variants of retrieve-all: their sources, put together for a workgroup size and a number of loads. */
import common from "./common.wgsl";
import globalAtomic from "./global-atomic.wgsl";
import stage from "./stage.wgsl";
import subgroup from "./subgroup.wgsl";
import subgroupHead from "./subgroup-head.wgsl";
import tile from "./tile.wgsl";
import workgroupCounter from "./workgroup-counter.wgsl";
import workgroupScan from "./workgroup-scan.wgsl";

/** One kernel, at one size. */
export interface Variant {
  readonly name: string;
  readonly code: string;
  readonly workgroup: number;
  /** Slots of a workgroup. */
  readonly tile: number;
  /** Bytes of workgroup memory. */
  readonly storage: number;
  readonly feature?: GPUFeatureName;
}

/** Variants by name, with the sizes that are measured: invocations of a workgroup, loads of each. */
const KERNELS = [
  { name: "global atomic", parts: [globalAtomic], bytesPerSlot: 0, sizes: [[256, 1]] },
  { name: "workgroup counter", parts: [workgroupCounter], bytesPerSlot: 0, sizes: [[256, 4]] },
  {
    name: "workgroup scan",
    parts: [stage, workgroupScan],
    bytesPerSlot: 4,
    sizes: [
      [256, 4],
      [256, 8],
    ],
  },
  {
    name: "subgroup",
    head: subgroupHead,
    parts: [subgroup],
    bytesPerSlot: 0,
    sizes: [
      [256, 4],
      [256, 8],
      [256, 16],
      [512, 16],
    ],
    feature: "subgroups",
  },
  {
    name: "tile",
    parts: [stage, tile],
    bytesPerSlot: 4,
    sizes: [
      [256, 4],
      [256, 8],
      [512, 8],
      [256, 16],
    ],
  },
] as const;

/** Workgroup memory beside the staging: counters, and the scan's sums. */
const COUNTER_BYTES = 16;

/** The variants that a device can run. */
export function variantsFor(gpu: GPUDevice): Variant[] {
  const { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup } = gpu.limits;
  return KERNELS.flatMap((kernel) =>
    kernel.sizes.map(([workgroup, items]): Variant => {
      const header = `const WORKGROUP: u32 = ${workgroup}u;\nconst ITEMS: u32 = ${items}u;\n`;
      const tile = 2 * workgroup * items;
      const scan = kernel.name === "workgroup scan" ? 4 * workgroup : 0;
      return {
        name: kernel.name,
        code: [("head" in kernel && kernel.head) || "", header, common, ...kernel.parts].join("\n"),
        workgroup,
        tile,
        storage: tile * kernel.bytesPerSlot + scan + COUNTER_BYTES,
        ...("feature" in kernel && { feature: kernel.feature }),
      };
    }),
  ).filter(
    ({ workgroup, storage, feature }) =>
      workgroup <= maxComputeInvocationsPerWorkgroup &&
      storage <= maxComputeWorkgroupStorageSize &&
      (feature === undefined || gpu.features.has(feature)),
  );
}
