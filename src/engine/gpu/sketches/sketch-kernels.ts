/** The kernels of sketches: which fragments make up each, and what they are told. */
import { isFloatWord } from "../../element-types.js";
import { type BasicType, scalarWords } from "../../scalars.js";
import { BLOCK_WORDS, SALTS } from "../../sketch-format.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import { selected } from "../selected.js";

/**
 * What a dispatch over a chunk is told. Shifts are where a column's first element lies in its binding, in 32-bit words.
 */
export const sketchParams = [
  /** Keys of the chunk. */
  "count",
  "keyShift",
  "maskShift",
  "flagShift",
  /** Blocks of the filter. */
  "blocks",
] as const;

/** Invocations of a workgroup of the filter's kernels. */
export const FILTER_WORKGROUP = 256;
/** Keys that such a workgroup takes. */
export const FILTER_TILE = 4 * FILTER_WORKGROUP;
/** Keys that an invocation of registers-add.wgsl has in flight. */
export const REGISTER_ITEMS = 8;

const block = fragment("", { values: { BLOCK_WORDS, SALTS } });

/** HOW of combine.wgsl. */
export const HOW = { or: 0, and: 1, max: 2 } as const;

export const combineKernel = kernelSource(
  "combine sketches",
  [],
  [
    fragment("sketches/combine", {
      bindings: { into: readWrite("array<vec4u>"), other: read("array<vec4u>") },
      constants: ["HOW"],
    }),
  ],
);

const hashing = [
  fragment("table/hash"),
  fragment("table/hash-wide"),
  fragment("table/float-keys"),
  selected,
  fragment("sketches/keys", {
    bindings: { keys: read() },
    constants: ["WORKGROUP", "KEY_WORDS", "KEY_F32"],
  }),
];

/** What kernels are told of keys of a type. */
export function keyConstants(key: BasicType) {
  return { KEY_WORDS: scalarWords[key], KEY_F32: isFloatWord(key) };
}

export const filterAdd = kernelSource("filter add", sketchParams, [
  ...hashing,
  block,
  fragment("sketches/filter-add", { bindings: { bits: readWrite("array<atomic<u32>>") } }),
]);

export const filterContains = kernelSource("filter contains", sketchParams, [
  ...hashing,
  block,
  fragment("sketches/filter-contains", {
    bindings: { halves: read("array<vec4u>"), flags: readWrite() },
  }),
]);

export const registersAdd = kernelSource("registers add", sketchParams, [
  ...hashing,
  fragment("sketches/registers-add", {
    bindings: { registers: readWrite("array<atomic<u32>>") },
    constants: [
      "PRECISION",
      /** A workgroup has memory for registers of its own. */
      "LOCAL",
    ],
  }),
]);
