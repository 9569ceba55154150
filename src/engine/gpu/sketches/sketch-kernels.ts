/** The kernels of sketches: which fragments make up each, and what they are told. */
import { isFloatWord } from "../../float-keys.js";
import { type BasicType, scalarWords } from "../../scalars.js";
import { BLOCK_WORDS, SALTS } from "../../sketch-format.js";
import floatKeys from "../../webgpu/table/float-keys.wgsl";
import hash from "../../webgpu/table/hash.wgsl";
import hashWide from "../../webgpu/table/hash-wide.wgsl";
import { selected } from "../../webgpu/table/selected.js";
import combine from "../../webgpu/wgsl/sketches/combine.wgsl";
import filterAdd from "../../webgpu/wgsl/sketches/filter-add.wgsl";
import filterContains from "../../webgpu/wgsl/sketches/filter-contains.wgsl";
import keys from "../../webgpu/wgsl/sketches/keys.wgsl";
import registersAdd from "../../webgpu/wgsl/sketches/registers-add.wgsl";
import { getOrMake } from "../get-or-make.js";
import { constantLines, fragment, kernelSource, read, readWrite } from "../kernel-source.js";

/** What a dispatch over a chunk is told. Shifts are where a column's first element lies in its binding, in 32-bit words. */
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

const block = fragment(
  `const BLOCK_WORDS: u32 = ${BLOCK_WORDS}u;
const SALTS = array<u32, BLOCK_WORDS>(${SALTS.map((salt) => `${salt}u`).join(", ")});`,
);

/** HOW of combine.wgsl. */
export const HOW = { or: 0, and: 1, max: 2 } as const;

/** Combines two sketches. */
export const combineKernel = kernelSource(
  "combine sketches",
  [],
  [
    fragment(combine, {
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
      fragment(constantLines({ KEY_WORDS: scalarWords[key], KEY_F32: isFloatWord(key) })),
      fragment(hash),
      fragment(hashWide),
      fragment(floatKeys),
      selected,
      fragment(keys, { bindings: { keys: read() }, constants: ["SKETCH_WORKGROUP"] }),
    ];
    this.filterAdd = kernelSource("filter add", sketchParams, [
      ...hashing,
      block,
      fragment(filterAdd, { bindings: { bits: readWrite("array<atomic<u32>>") } }),
    ]);
    this.filterContains = kernelSource("filter contains", sketchParams, [
      ...hashing,
      block,
      fragment(filterContains, { bindings: { halves: read("array<vec4u>"), flags: readWrite() } }),
    ]);
    this.registersAdd = kernelSource("registers add", sketchParams, [
      ...hashing,
      fragment(registersAdd, {
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
