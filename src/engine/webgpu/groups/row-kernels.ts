/** The row kernels: which fragments make up each, and what they are told. */
import type { BindingKind, KernelSource } from "../device/kernel.js";
import cas from "../direct/cas.wgsl";
import type { KernelOverrides } from "../direct/direct-kernels.js";
import expand from "../join/expand.wgsl";
import findGroup from "../join/find-group.wgsl";
import matchCounts from "../join/match-counts.wgsl";
import probe from "../join/probe.wgsl";
import probeUnique from "../join/probe-unique.wgsl";
import hash from "../table/hash.wgsl";
import equal from "./equal.wgsl";
import groupRows from "./list-members.wgsl";
import mix from "./mix.wgsl";
import build from "./number-rows.wgsl";
import packBytes from "./pack-bytes.wgsl";
import packHead from "./pack-head.wgsl";
import packWords from "./pack-words.wgsl";
import control from "./row-control.wgsl";
import params from "./row-params.wgsl";
import scan from "./scan.wgsl";
import scanAdd from "./scan-add.wgsl";

const rowParamNames = [
  "first",
  "count",
  "slots",
  "rowWords",
  "plainWords",
  "nullWords",
  "column",
  "columnWord",
  "columnWidth",
  "columnBytes",
  "nullsEqual",
  "total",
] as const;

/** What a row kernel is told: the fields of row-params.wgsl. Fields left out are 0. */
export type RowParams = Partial<Record<(typeof rowParamNames)[number], number>>;

/** The uniform's words. */
export function rowParams(values: RowParams): Uint32Array<ArrayBuffer> {
  return Uint32Array.from(rowParamNames, (name) => values[name] ?? 0);
}

const rowCounterNames = ["groups", "unfinished", "pairsLow", "pairsHigh"] as const;
/** The counters of row-control.wgsl. */
export type RowCounters = Record<(typeof rowCounterNames)[number], number>;
/** Bytes of the control buffer. */
export const ROW_CONTROL_BYTES = rowCounterNames.length * 4;

/** Reads the control buffer's words. */
export function readRowCounters(bytes: Uint8Array): RowCounters {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, rowCounterNames.length);
  return Object.fromEntries(rowCounterNames.map((name, i) => [name, words[i]])) as RowCounters;
}

/** Rows (or pairs) that one workgroup takes. */
export const ROW_TILE = 256;
/** Words that one workgroup scans. */
export const SCAN_TILE = 2048;

/** All row kernels. */
export class RowKernels {
  readonly packWords = source("pack words", [params, mix, packHead, packWords], "storage", "read", "read");
  readonly packBytes = source(
    "pack bytes",
    [params, mix, packHead, packBytes],
    "storage",
    "read",
    "read",
    "read",
    "read",
  );
  readonly build: KernelSource;
  readonly probeUnique = source(
    "probe unique",
    [...probing, findGroup, probeUnique],
    ...compared,
    "storage",
    "read",
    "storage",
    "storage",
  );
  readonly probe = source(
    "probe",
    [...probing, findGroup, probe],
    ...compared,
    "storage",
    "read",
    "read",
    "storage",
  );
  readonly scan = source("scan", [params, scan], "storage", "storage");
  readonly scanAdd = source("scan add", [params, scanAdd], "storage", "storage");
  readonly groupRows = source("group rows", [params, groupRows], "read", "read", "storage");
  readonly matchCounts = source("match counts", [params, matchCounts], "read", "storage");
  readonly expand = source("expand", [params, expand], "read", "read", "read", "read", "storage", "storage");
  /** Constants of the packing kernels. */
  readonly hashMask: number;

  constructor(overrides: KernelOverrides) {
    const code = [...probing, overrides.cas ?? cas, build];
    this.build = source("build", code, ...compared, "storage", "storage", "storage", "storage");
    this.hashMask = overrides.rowHashMask ?? 0xffffffff;
  }
}

/** A kernel whose binding 0 is the uniform. */
function source(label: string, code: readonly string[], ...bindings: BindingKind[]): KernelSource {
  return { label, code, bindings: ["uniform", ...bindings] };
}

const probing = [hash, params, equal, control];
const compared: readonly BindingKind[] = ["read", "read", "read", "read"];
