/** The kernels of dictionaries: which fragments make up each, and what they are told. */
import { NO_NUMBER } from "../../dictionary.js";
import { ENTRY } from "../../slot-format.js";
import { MOST_TAG } from "../../tags.js";
import hash from "../../webgpu/table/hash.wgsl";
import { selected } from "../../webgpu/table/selected.js";
import bytesAt from "../../webgpu/wgsl/groups/bytes-at.wgsl";
import invocation from "../../webgpu/wgsl/strings/invocation.wgsl";
import moveSlots from "../../webgpu/wgsl/strings/move-slots.wgsl";
import numbersCode from "../../webgpu/wgsl/strings/numbers.wgsl";
import placesCode from "../../webgpu/wgsl/strings/places.wgsl";
import probe from "../../webgpu/wgsl/strings/probe.wgsl";
import settle from "../../webgpu/wgsl/strings/settle.wgsl";
import stringsCode from "../../webgpu/wgsl/strings/strings.wgsl";
import { countersOf } from "../counters.js";
import { getOrMake } from "../get-or-make.js";
import { constantLines, fragment, kernelSource, read, readWrite } from "../kernel-source.js";

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
const params = [
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
  /** The dispatch's number of those over one chunk, and the chunk's first element: tests tell dispatches apart by them. */
  "round",
  "first",
] as const;

const common = fragment(
  `${constantLines({ WORKGROUP, ENTRY, MOST_TAG, NO_NUMBER })}\nalias Word = u32;\n${invocation}`,
);
const table = fragment("", { bindings: { table: readWrite("array<atomic<u32>>") } });
const places = fragment(placesCode, { bindings: { places: readWrite() } });
const strings = [
  fragment(bytesAt, { bindings: { bytes: read() } }),
  fragment(stringsCode, { bindings: { offsets: read() }, constants: ["HASH", "RECORDS"] }),
];

/** The kernels of an engine, with its compare-exchange. */
type DictionaryKernels = ReturnType<typeof makeKernels>;

const made = new Map<string, DictionaryKernels>();

/** The kernels with this compare-exchange: the same objects every time, so that their texts are made once. */
export function dictionaryKernels(cas: string): DictionaryKernels {
  return getOrMake(made, cas, () => makeKernels(cas));
}

function makeKernels(cas: string) {
  const changing = [common, fragment(hash), control, table, fragment(cas)];
  return {
    probe: kernelSource("find strings", params, [
      ...changing,
      places,
      ...strings,
      selected,
      fragment(probe, { bindings: { arena: read() }, constants: ["CLAIMS"] }),
    ]),
    settle: kernelSource("keep strings", params, [
      ...changing,
      places,
      ...strings,
      fragment(settle, { bindings: { arena: readWrite() } }),
    ]),
    numbers: kernelSource("number strings", params, [
      common,
      places,
      fragment(numbersCode, { bindings: { slots: read(), numbers: readWrite() } }),
    ]),
    moveSlots: kernelSource("move slots", params, [
      ...changing,
      ...strings,
      fragment(moveSlots, { bindings: { slots: read() }, constants: ["REHASH"] }),
    ]),
  };
}
