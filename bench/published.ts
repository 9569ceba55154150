/**
 * Figures of others that benchmarks stand beside, each with where it is written. GB/s of table operations are 8 bytes × keys
 * / time, as in the articles.
 */
import type { Published } from "./report.js";

const BLOG =
  "NVIDIA technical blog, Maximizing Performance with Massively Parallel Hash Maps on GPUs, table 1 and figure 5";
const BESIDE =
  "cuCollections built and timed beside this project on one H100 80GB SXM, 2^27 pairs of u32, best of its configurations";
const SIMPLE = "A Simple GPU Hash Table (nosferalatu), tables of the article; time of the kernel alone";

const gigabytes = (of: string, source: string) => (operation: string, value: number, load?: number) =>
  ({ of, operation, ...(load !== undefined && { load }), value, unit: "GB/s", source }) satisfies Published;

const xeon = gigabytes("Xeon Platinum 8360Y (DDR4-3200 × 8)", BLOG);
const a100 = gigabytes("A100-80GB-SXM (HBM2e)", BLOG);
const h100 = gigabytes("H100-80GB-SXM (HBM3)", BLOG);

/** Table 1 of the NVIDIA article. "peak" is the theoretical bandwidth of the memory. */
export const GUPS: readonly Published[] = [
  xeon("random 8-byte reads", 15),
  a100("random 8-byte reads", 141),
  h100("random 8-byte reads", 256),
  xeon("peak", 204),
  a100("peak", 2039),
  h100("peak", 3352),
];

const cuco = gigabytes("cuco::static_map, H100, published", BLOG);
const kokkos = gigabytes(
  "kokkos::UnorderedMap, H100, published",
  `${BLOG}: cuco's figures divided by the 3.8 and 2.6 that it states`,
);
const cucoHere = gigabytes("cuco::static_map, H100, timed beside", BESIDE);

/** Fig. 5 of the NVIDIA article: 2^27 unique pairs at load 0.5; kokkos from the ratios in its text. */
export const STATIC_MAPS: readonly Published[] = [
  cuco("insert", 87.5, 0.5),
  cuco("find present", 134.6, 0.5),
  kokkos("insert", 23.03, 0.5),
  kokkos("find present", 51.77, 0.5),
];

/** cuCollections on an H100 by load factor. At 0.95 double hashing with groups of 4 is its best. */
export const CUCO_BY_LOAD: readonly Published[] = [
  ...(
    [
      ["insert", { 0.5: 92, 0.95: 69 }],
      ["find present", { 0.5: 199, 0.95: 112 }],
      ["find half absent", { 0.5: 185, 0.95: 38 }],
      ["erase", { 0.5: 93, 0.95: 71 }],
      ["retrieveAll", { 0.5: 537, 0.95: 835 }],
    ] as const
  ).flatMap(([operation, byLoad]) =>
    Object.entries(byLoad).map(([load, value]) => cucoHere(operation, value, Number(load))),
  ),
];

/** A fresh map of cuCollections on an H100, used once by a warm process. */
export const CUCO_LIFECYCLE: readonly Published[] = (
  [
    ["create", 1.1],
    ["insert", 13.0],
    ["find", 6.2],
    ["destroy", 2],
    ["total", 22],
  ] as const
).map(([operation, value]) => ({
  of: "cuco::static_map, H100, timed beside",
  operation,
  load: 0.5,
  size: 2 ** 27,
  value,
  unit: "ms",
  source: BESIDE,
}));

/** The utilisation table of SimpleGPUHashTable: M keys/s of each 4,194,304 inserts into 2^27 slots, from empty on. */
const UTILISATION = [
  361.314798, 356.918799, 351.205515, 347.178429, 342.600233, 338.347235, 334.660176, 330.173626, 325.530693,
  321.810182, 316.807174, 313.184256, 307.861434, 302.280855, 296.909756, 291.284699, 285.515123, 278.892623,
  270.973402, 262.379092, 251.627968, 238.486174, 224.413765, 206.831789, 186.038058, 160.989275, 131.503463,
  99.619378, 67.815164, 39.682713, 17.461378,
];

export const SIMPLE_UTILISATION: readonly Published[] = UTILISATION.map((value, batch) => ({
  of: "SimpleGPUHashTable, a laptop's GTX 1060",
  operation: "insert",
  load: batch / 32,
  value,
  unit: "M keys/s",
  source: SIMPLE,
}));

/** Probes after the first, of SimpleGPUHashTable. */
export const SIMPLE_DEPTHS: readonly Published[] = (
  [
    ["mean depth", 0.5, 0.4774],
    ["deepest", 0.5, 60],
    ["mean depth", 0.97, 10.1757],
    ["deepest", 0.97, 6474],
  ] as const
).map(([operation, load, value]) => ({
  of: "SimpleGPUHashTable",
  operation,
  load,
  value,
  unit: "probes",
  source: SIMPLE,
}));

/** retrieveAll of others: bytes of the pairs that came out / time. */
export const RETRIEVALS: readonly Published[] = [
  ...CUCO_BY_LOAD.filter(({ operation, load }) => operation === "retrieveAll" && load === 0.5),
  {
    of: "cuco::dynamic_map with a retrieve_all of its own, 64-bit keys and values, GPU not named",
    operation: "retrieveAll",
    load: 0.5,
    value: 533,
    unit: "GB/s",
    source: "the blog post on retrieve_all: 10^8 pairs out of 2 × 10^8 slots in about 3 ms",
  },
];

/** Inner joins of cuDF and of cuCollections' table, as rows of the benchmark join name them. */
export const CUDF_JOINS: readonly Published[] = (
  [
    ["cuDF, H100", "device to device, i64, row pairs", 10_000_000, 3.66],
    ["cuDF, GH200", "device to device, i64, row pairs", 100_000, 0.167],
    ["cuco::static_map insert + find, H100, timed beside", "device to device, u32", 2 ** 27, 19.2],
  ] as const
).map(([of, operation, size, value]) => ({
  of,
  operation,
  size,
  value,
  unit: "ms",
  source: of.startsWith("cuDF") ? "rapidsai/cudf, pull requests 18896 and 23640" : BESIDE,
}));

/** Sketches of cuCollections on an H100: 2^27 keys, filters of 8 × u32 blocks. */
export const CUCO_SKETCHES: readonly Published[] = (
  [
    ["bloom add, 16 MiB", 16.8],
    ["bloom add, 256 MiB", 12.4],
    ["bloom add, 1 GiB", 11.7],
    ["bloom contains, 16 MiB", 79],
    ["bloom contains, 256 MiB", 32],
    ["bloom contains, 1 GiB", 30],
    ["hyperloglog add, 4 to 128 KiB", 526],
  ] as const
).map(([operation, value]) => ({
  of: "cuCollections, H100, timed beside",
  operation,
  size: 2 ** 27,
  value,
  unit: "G/s",
  source:
    "cuCollections built and timed beside this project on one H100 80GB SXM, 2^27 u32 keys; kernels alone",
}));

const BESIDE_MULTI =
  "cuCollections built and timed beside this project on one H100 80GB SXM, 2^26 entries of u32, every key as often as the others";

/** cuCollections' multiset and multimap on an H100, in G elements a second, by how often each key comes. */
export const MULTIMAPS: readonly Published[] = Object.entries({
  "multiset insert": { 1: 11.4, 8: 6.5, 64: 1.15, 1024: 0.1 },
  "multiset count": { 1: 14.7, 8: 7.5, 64: 1.5, 1024: 0.12 },
  "multiset retrieve": { 1: 5.0, 8: 14.1, 64: 22.7, 1024: 28.6 },
  "multimap insert": { 1: 9.8, 8: 4.2, 64: 1.0 },
  "multimap count": { 1: 10.7, 8: 5.0, 64: 1.7 },
  "multimap retrieve": { 1: 3.8, 8: 22, 64: 38 },
}).flatMap(([operation, byMultiplicity]) =>
  Object.entries(byMultiplicity).map(([multiplicity, value]) => ({
    of: "cuCollections, H100, timed beside",
    operation: `${operation}, ${multiplicity} equal ${multiplicity === "1" ? "key" : "keys"}`,
    size: 2 ** 26,
    value,
    unit: "G/s",
    source: BESIDE_MULTI,
  })),
);

/** A growing map of cuCollections on an H100, from 2^16 to 2^27 pairs in eight batches. */
export const CUCO_GROWTH: readonly Published[] = (
  [
    ["all inserts", 121],
    ["find of all", 106],
  ] as const
).map(([operation, value]) => ({
  of: "cuco::dynamic_map, H100, timed beside",
  operation,
  size: 2 ** 27,
  value,
  unit: "ms",
  source: BESIDE,
}));

/** cuCollections' map of u64 to u64 on an H100, by load factor. */
export const CUCO_WIDE: readonly Published[] = (
  [
    ["insert", 0.5, 10.2],
    ["find present", 0.5, 21.6],
    ["erase", 0.5, 10.1],
    ["insert", 0.8, 8.9],
    ["find present", 0.8, 14.3],
    ["erase", 0.8, 8.6],
  ] as const
).map(([operation, load, value]) => ({
  of: "cuco::static_map, u64, H100, timed beside",
  operation,
  load,
  size: 2 ** 26,
  value,
  unit: "G/s",
  source: "cuCollections built and timed beside this project on one H100 80GB SXM, 2^26 pairs of u64",
}));
