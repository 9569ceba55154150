/** The kernels of sketches: which fragments make up each, and what they are told. */
import { isFloatWord } from "../../element-types.js";
import { type BasicType, scalarWords } from "../../scalars.js";
import { BLOCK_WORDS, SALTS } from "../../sketch-format.js";
import { getOrMake } from "../get-or-make.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import { selected } from "../selected.js";

/**
 * What a dispatch over a chunk is told. Shifts are where a column's first element lies in its binding, in 32-bit words.
 */
const sketchParams = [
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

/** Combines two sketches. */
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

/** The kernels for keys of one type. */
export class SketchKernels {
  readonly filterAdd;
  readonly filterContains;
  readonly registersAdd;

  private constructor(key: BasicType) {
    const hashing = [
      fragment("", { values: { KEY_WORDS: scalarWords[key], KEY_F32: isFloatWord(key) } }),
      fragment("table/hash"),
      fragment("table/hash-wide"),
      fragment("table/float-keys"),
      selected,
      fragment("sketches/keys", { bindings: { keys: read() }, constants: ["SKETCH_WORKGROUP"] }),
    ];
    this.filterAdd = kernelSource("filter add", sketchParams, [
      ...hashing,
      block,
      fragment("sketches/filter-add", { bindings: { bits: readWrite("array<atomic<u32>>") } }),
    ]);
    this.filterContains = kernelSource("filter contains", sketchParams, [
      ...hashing,
      block,
      fragment("sketches/filter-contains", {
        bindings: { halves: read("array<vec4u>"), flags: readWrite() },
      }),
    ]);
    this.registersAdd = kernelSource("registers add", sketchParams, [
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
  }

  static of(key: BasicType): SketchKernels {
    return getOrMake(known, key, () => new SketchKernels(key));
  }
}

const known = new Map<BasicType, SketchKernels>();
