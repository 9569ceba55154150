/**
 * The kernels of tables, as kernels/ has them: each once for a kind of slots. Their constants say what a table is, so
 * that one kernel serves all tables of a kind.
 */
import {
  drawn,
  type Fragment,
  fragment,
  getOrMake,
  hashNames,
  type KernelSource,
  kernelSource,
  NO_SEED,
  read,
  readWrite,
  type TableSpec,
} from "warpmap/engine";
import { formatOf } from "./formats.js";

/** What every kernel of a table is told of it. HASH: a place in `hashNames`, or OWN_HASH. */
const table = fragment("", {
  bindings: { slots: readWrite(), control: readWrite() },
  constants: ["SLOTS", "HASH", "MULTIPLIER", "OFFSET", "KEY_WORDS", "VALUE_WORDS", "FLOATS32", "FLOATS64"],
});

/** Hashes come with the keys: the function is a user's own. */
const OWN_HASH = hashNames.length;

export function constantsOf(spec: TableSpec) {
  const { hash, seed = NO_SEED, slots } = spec;
  const { keyWords, valueWords, keyFloats } = formatOf(spec);
  const { multiplier, offset } = seed === NO_SEED ? { multiplier: 1, offset: 0 } : drawn(seed);
  const floats = (words: number) =>
    keyFloats.reduce((bits, float) => (float.words === words ? bits | (1 << float.at) : bits), 0);
  return {
    SLOTS: slots,
    HASH: typeof hash === "string" ? hashNames.indexOf(hash) : OWN_HASH,
    MULTIPLIER: multiplier >>> 0,
    OFFSET: offset >>> 0,
    KEY_WORDS: keyWords,
    VALUE_WORDS: valueWords,
    FLOATS32: floats(1),
    FLOATS64: floats(2),
  };
}

/** `list`: the numbers of the elements to work on, where it is not the whole batch. */
const keys = { keys: read(), mask: read(), hashes: read(), list: read() };

/** A batch that is sorted by window: `ends` of partitions; `list`, the elements that the kernel leaves. */
const windows = { keys: read(), ends: read(), list: readWrite() };

/** Two kernels insert: they are told the same. */
const insert = {
  params: ["COUNT", "RULE", "CAREFUL", "ACCEPT_REJECTED", "REUSE", "AHEAD"],
  bindings: {
    keys: read(),
    values: read(),
    mask: read(),
    hashes: read(),
    list: read(),
    isNew: readWrite(),
    rejected: readWrite(),
  },
} as const;

/** The operations by the names of their functions, which end in the kind of slots. */
export const operations = {
  insert,
  insert_each: insert,
  find: {
    params: ["COUNT", "MISSING", "MISSING_HIGH"],
    bindings: { ...keys, values: readWrite(), found: readWrite() },
  },
  find_each: {
    params: ["COUNT", "MISSING", "MISSING_HIGH"],
    bindings: { keys: read(), mask: read(), hashes: read(), values: readWrite(), found: readWrite() },
  },
  erase: { params: ["COUNT"], bindings: keys },
  windows_insert: {
    params: ["BITS", "MOST", "RULE", "REUSE", "IS_EMPTY"],
    bindings: { ...windows, values: read(), isNew: readWrite() },
  },
  windows_find: {
    params: ["BITS", "MOST", "MISSING", "MISSING_HIGH"],
    bindings: { ...windows, values: readWrite(), found: readWrite() },
  },
  windows_erase: { params: ["BITS", "MOST"], bindings: windows },
  retrieve: { params: ["COUNT"], bindings: { keys: readWrite(), values: readWrite() } },
  statistics: { params: [], bindings: { hashes: read(), histogram: readWrite() } },
} as const;

export type Operation = keyof typeof operations;
export type ParamOf<O extends Operation> = (typeof operations)[O]["params"][number];
export type BindingOf<O extends Operation> = keyof (typeof operations)[O]["bindings"] & string;

export const tableKernel = madeOnce((operation: Operation, kind: string): KernelSource<string, string> => {
  const { params, bindings } = operations[operation];
  const fragments: readonly Fragment[] = [table, fragment("", { bindings })];
  return kernelSource<string, string, string>(`${operation}_${kind}`, params, fragments);
});

/** Makes each kernel of a kind once: compiled ones are known by it. */
export function madeOnce<A extends readonly (string | number)[], T>(make: (...of: A) => T): (...of: A) => T {
  const made = new Map<string, T>();
  return (...of) => getOrMake(made, of.join(), () => make(...of));
}

/** rows[i] = i. */
export const numberRows = kernelSource(
  "number_rows",
  ["COUNT"],
  [fragment("", { bindings: { rows: readWrite() } })],
);

/** chosen[i] = mask[i] and rows[i] == i. */
export const markChosen = kernelSource(
  "mark_chosen",
  ["COUNT"],
  [fragment("", { bindings: { rows: read(), mask: read(), chosen: readWrite() } })],
);
