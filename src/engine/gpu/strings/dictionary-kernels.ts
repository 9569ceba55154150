/** The kernels of dictionaries: which fragments make up each, and what they are told. */
import { NO_NUMBER } from "../../dictionary.js";
import { ENTRY } from "../../slot-format.js";
import { MOST_TAG } from "../../tags.js";
import { countersOf } from "../counters.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import { selected } from "../selected.js";

/** Invocations of a workgroup. */
export const WORKGROUP = 256;

/** What kernels count: of one dispatch, but for `used`, the words of the arena that records take. */
export const dictionaryCounters = countersOf("Control", [
  "unfinished",
  "absent",
  "absentWords",
  "strings",
  "used",
]);
const { control } = dictionaryCounters;

/** What a dispatch is told. Shifts are where a column's first element lies in its binding, in 32-bit words. */
export const dictionaryParams = [
  /** Elements, or slots of the old table. */
  "count",
  /** The last slot's number: slots are a power of two. */
  "slotMask",
  /** What the first byte of `bytes` has for an offset. */
  "base",
  "offsetShift",
  "maskShift",
  "numberShift",
  /** What words are hashed as. */
  "multiplier",
  "offset",
  /** Bits of hashes that are kept. */
  "hashMask",
  /**
   * The dispatch's number of those over one chunk, and the chunk's first element: tests tell dispatches apart by them.
   */
  "round",
  "first",
] as const;

const common = fragment("strings/invocation", { values: { WORKGROUP, ENTRY, MOST_TAG, NO_NUMBER } });
const table = fragment("", { bindings: { table: readWrite("array<atomic<u32>>") } });
const places = fragment("strings/places", { bindings: { places: readWrite() } });
const strings = [
  fragment("groups/bytes-at", { bindings: { bytes: read() } }),
  fragment("strings/strings", { bindings: { offsets: read() }, constants: ["HASH", "RECORDS"] }),
];

const changing = [
  common,
  fragment("groups/word"),
  fragment("table/hash"),
  control,
  table,
  fragment("direct/cas"),
];

export const dictionaryKernels = {
  probe: kernelSource("find strings", dictionaryParams, [
    ...changing,
    places,
    ...strings,
    selected,
    fragment("strings/probe", { bindings: { arena: read() }, constants: ["CLAIMS"] }),
  ]),
  settle: kernelSource("keep strings", dictionaryParams, [
    ...changing,
    places,
    ...strings,
    fragment("strings/settle", { bindings: { arena: readWrite() } }),
  ]),
  numbers: kernelSource("number strings", dictionaryParams, [
    common,
    places,
    fragment("strings/numbers", { bindings: { slots: read(), numbers: readWrite() } }),
  ]),
  moveSlots: kernelSource("move slots", dictionaryParams, [
    ...changing,
    ...strings,
    fragment("strings/move-slots", { bindings: { slots: read() }, constants: ["REHASH"] }),
  ]),
};
