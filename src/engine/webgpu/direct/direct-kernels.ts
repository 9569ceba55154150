/**
 * The table kernels: which fragments make up each, what they are told, and how they are specialised for a table.
 * All of them share one numbering of bindings, so that the table's code can name columns and not numbers.
 */
import type { TableSpec } from "../../layout.js";
import type { BindingKind, Constants, KernelSource, Range } from "../device/kernel.js";
import type { Staging } from "../memory/gpu-memory.js";
import control from "../table/control.wgsl";
import hash from "../table/hash.wgsl";
import probe from "../table/probe.wgsl";
import slotMap from "../table/slot-map.wgsl";
import slotSet from "../table/slot-set.wgsl";
import { tableConstants } from "../table/table-constants.js";
import params from "../table/table-params.wgsl";
import batch from "./batch.wgsl";
import cas from "./cas.wgsl";
import erase from "./erase.wgsl";
import group from "./group.wgsl";
import insert from "./insert.wgsl";
import lookup from "./look-up.wgsl";

/** What tests may replace. */
export interface KernelOverrides {
  /** In place of cas.wgsl. */
  cas?: string;
  /** In place of cas-seen.wgsl. */
  casSeen?: string;
  /** Bits that row hashes keep: fewer bits make different rows collide. */
  rowHashMask?: number;
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
}

/** Bindings by name, in the order of their numbers in the WGSL files. Number 0 is the uniform. */
export interface TableBindings {
  control?: Range;
  keys?: Range;
  mask?: Range;
  worklists?: Range;
  table: Range;
  values?: Range;
  flags?: Range;
  known?: Range;
}

/** The bindings of a kernel by number. */
export function tableRanges(b: TableBindings): (Range | undefined)[] {
  return [undefined, b.control, b.keys, b.mask, b.worklists, b.table, b.values, b.flags, b.known];
}

/** What a dispatch is told: the fields of table-params.wgsl. Fields left out are 0. */
export type TableParams = Partial<Record<(typeof paramNames)[number], number>>;

const paramNames = [
  "slots",
  "count",
  "keyShift",
  "valueShift",
  "maskShift",
  "flagShift",
  "fill",
  "stepBudget",
  "maxProbe",
  "worklistFrom",
  "worklistTo",
  "worklistRoom",
  "first",
  "windowFirst",
  "windowSlots",
  "partitionShift",
] as const;

/** The uniform's words. */
export function tableParams(values: TableParams): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(paramNames.length);
  paramNames.forEach((name, i) => {
    words[i] = values[name] ?? 0;
  });
  return words;
}

/** Elements that one workgroup of the batch kernels takes. */
export const BATCH_TILE = 1024;

const bindings = (table: BindingKind, values: BindingKind): readonly BindingKind[] => [
  "uniform",
  "storage",
  "read",
  "read",
  "storage",
  table,
  values,
  "storage",
  "read",
];

const probing = [hash, params, probe];
const batched = [...probing, control, batch, group];

/** All table kernels for tables of one kind. */
export class TableKernels {
  readonly insert: KernelSource;
  readonly lookup: KernelSource;
  readonly erase: KernelSource;

  constructor(
    private readonly spec: TableSpec,
    private readonly overrides: KernelOverrides,
  ) {
    const [kind, slot] = spec.value === null ? ["set", slotSet] : ["map", slotMap];
    this.insert = this.changing("insert", [insert]);
    this.erase = this.changing("erase", [erase]);
    this.lookup = {
      label: `lookup ${kind}`,
      code: [...batched, slot, lookup],
      bindings: bindings("read", "storage"),
    };
  }

  /** A kernel that takes a batch and changes the table. */
  changing(label: string, code: readonly string[]): KernelSource {
    return {
      label,
      code: [...batched, this.overrides.cas ?? cas, ...code],
      bindings: bindings("storage", "read"),
    };
  }

  /** A kernel that probes all slots. */
  scan(label: string, code: readonly string[]): KernelSource {
    const [kind, slot] = this.spec.value === null ? ["set", slotSet] : ["map", slotMap];
    return {
      label: `${label} ${kind}`,
      code: [...probing, slot, ...code],
      bindings: bindings("read", "storage"),
    };
  }

  /** Constants that every batch kernel has, for this table's spec. */
  batchConstants(flags: { listed: boolean; masked: boolean; windowed: boolean; group: number }): Constants {
    const { spec } = this;
    return {
      ...tableConstants(spec),
      FROM_WORKLIST: Number(flags.listed),
      MASKED: Number(flags.masked),
      GROUP: flags.group,
      WINDOWED: Number(flags.windowed),
    };
  }
}
