/** What the kernels that work on rows share, and the kernels that number equal rows. */
import { constantLines, fragment, kernelSource, read, readWrite } from "../device/kernel-source.js";
import cas from "../direct/cas.wgsl";
import type { KernelOverrides } from "../direct/direct-kernels.js";
import hash from "../table/hash.wgsl";
import equal from "./equal.wgsl";
import listMembers from "./list-members.wgsl";
import mix from "./mix.wgsl";
import numberRows from "./number-rows.wgsl";
import packBytes from "./pack-bytes.wgsl";
import packHead from "./pack-head.wgsl";
import packWords from "./pack-words.wgsl";
import rows from "./rows.wgsl";
import scan from "./scan.wgsl";
import scanAdd from "./scan-add.wgsl";

/** What a dispatch over rows is told. */
export const rowParams = [
  /** Rows (outputs, slots) first .. first + count are this dispatch's. */
  "first",
  "count",
  /** Slots of the table of rows. */
  "slots",
  "rowWords",
  /** Words of a record before its strings. */
  "plainWords",
  "nullWords",
  /** Packing: the column's number, where it goes in the record, its width in words, and where its bytes begin. */
  "column",
  "columnWord",
  "columnWidth",
  "columnBytes",
  /** 1: nulls are equal to nulls. 0: a row with a null has no partner. */
  "nullsEqual",
  /** Elements of the whole array, for scans and searches. */
  "total",
] as const;

/** Values of the parameters; those left out are 0. */
export type RowParams = { readonly [N in (typeof rowParams)[number]]?: number };

const rowCounterNames = [
  /** Distinct rows. */
  "groups",
  /** Rows that a dispatch left for another one. */
  "unfinished",
  /** Pairs, 64 bits. */
  "pairsLow",
  "pairsHigh",
] as const;
/** What row kernels count. */
export type RowCounters = Record<(typeof rowCounterNames)[number], number>;
/** Bytes of the control buffer. */
export const ROW_CONTROL_BYTES = rowCounterNames.length * 4;

/** The counters in WGSL: `control`. */
export const rowControl = fragment(
  `struct RowControl { ${rowCounterNames.map((name) => `${name}: atomic<u32>`).join(", ")} }`,
  { bindings: { control: readWrite("RowControl") } },
);

/** Reads the control buffer's words. */
export function readRowCounters(bytes: Uint8Array): RowCounters {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, rowCounterNames.length);
  return Object.fromEntries(rowCounterNames.map((name, i) => [name, words[i]])) as RowCounters;
}

/** Rows (or pairs) that one workgroup takes. */
export const ROW_TILE = 256;
/** Words that one workgroup scans. */
export const SCAN_TILE = 2048;

/** Rows by number. */
export const rowsFragment = fragment(rows);

/** Comparing rows of the side that is in the table with rows of the side that probes, which may be one side bound twice. */
export const comparing = [
  fragment(constantLines({ HASH: 0 })),
  fragment(hash),
  rowsFragment,
  fragment(equal, {
    bindings: { buildRecords: read(), buildBytes: read(), records: read(), bytes: read() },
  }),
  rowControl,
];

const packing = [
  rowsFragment,
  fragment(mix, {
    constants: [
      /** Bits of the hash that are kept. Tests clear bits so that different rows collide. */
      "HASH_MASK",
    ],
  }),
  fragment(packHead, {
    bindings: { records: readWrite(), validity: read() },
    constants: [
      /** The column has a validity bitmap. */
      "NULLABLE",
    ],
  }),
];

const scanned = { bindings: { words: readWrite(), tileSums: readWrite() } };

/** The kernels that pack, number, count and list rows. */
export class GroupKernels {
  readonly packWords = kernelSource("pack words", rowParams, [
    ...packing,
    fragment(packWords, { bindings: { data: read() } }),
  ]);
  readonly packBytes = kernelSource("pack bytes", rowParams, [
    ...packing,
    fragment(packBytes, { bindings: { starts: read(), ends: read(), bytes: read() } }),
  ]);
  readonly scan = kernelSource("scan", rowParams, [rowsFragment, fragment(scan, scanned)]);
  readonly scanAdd = kernelSource("scan add", rowParams, [rowsFragment, fragment(scanAdd, scanned)]);
  readonly listMembers = kernelSource("list members", rowParams, [
    rowsFragment,
    fragment(listMembers, {
      bindings: { places: read("array<vec2u>"), groupStarts: read(), grouped: readWrite() },
    }),
  ]);
  readonly numberRows;
  /** A constant of the packing kernels. */
  readonly hashMask: number;

  constructor(overrides: KernelOverrides) {
    this.numberRows = kernelSource("number rows", rowParams, [
      ...comparing,
      fragment("alias Word = u32;", { bindings: { table: readWrite("array<atomic<Word>>") } }),
      fragment(overrides.cas ?? cas),
      fragment(numberRows, {
        bindings: {
          groupSizes: readWrite("array<atomic<u32>>"),
          /** Per row: its slot (EMPTY while it has none) and its rank in its group. */
          places: readWrite("array<vec2u>"),
        },
      }),
    ]);
    this.hashMask = overrides.rowHashMask ?? 0xffffffff;
  }
}
