/**
 * THE seam: what containers ask of an engine (and, in row-operations.ts, relational operators, in sketch-operations.ts,
 * sketches, in value-lists.ts, multimaps). An engine is a place where tables live and bulk operations run: cpu (typed
 * arrays and workers), webgpu (kernels), and those of other packages (registry.ts).
 *
 * The seam is at operations ("insert this batch into this table"), not at kernels. An engine owns: memory, probing,
 * hashing, chunking of long batches, abort and progress between chunks, its own loss. It does not own: argument checks,
 * sizing, growth, the queue that keeps calls on one table apart, error wording. Containers own those, and guarantee
 * that calls on one table never overlap, that inputs have equal lengths and the right types, that targets have room,
 * that pinned arrays are held, that a destroyed table is not used, and that values are combined by operations that
 * their type has.
 *
 * Every operation terminates, leaves the table valid whatever happens, and counts exactly.
 */
import type { HostPool } from "../host/pool.js";
import type { DeviceArray } from "./device-array.js";
import type { Dictionary, DictionarySpec } from "./dictionary.js";
import type { ElementOf, ElementType, KeyType, ValueType } from "./element-types.js";
import type { TableSpec } from "./layout.js";
import type { Interop } from "./native.js";
import type { PinnedArray, PinnedUse } from "./pinned-array.js";
import type { GroupSize, Strategy } from "./plan.js";
import type { PlanLog } from "./plan-log.js";
import type { RowOperations } from "./row-operations.js";
import type { Scalar, ScalarArrays, ScalarType } from "./scalars.js";
import type { SketchOperations } from "./sketch-operations.js";
import type { EngineTraits } from "./traits.js";
import type { ListOperations } from "./value-lists.js";

/** The name of an engine: one of those that come with warpmap, or another one's. */
export type BackendName = "cpu" | "webgpu" | (string & {});

/**
 * Where a column of elements comes from: host memory, memory of the engine that runs the operation, or memory that it
 * copies from by itself.
 */
export type ColumnInput<T extends ScalarType = ScalarType> =
  | ScalarArrays[T]
  | DeviceArray<T>
  | PinnedArray<T, "upload">;

/** Elements given to an operation: a column, or of a composite type a list of columns, each from where it likes. */
export type Input<T extends ElementType> = T extends ScalarType
  ? ColumnInput<T>
  : { readonly [I in keyof T]: ColumnInput<T[I] & Scalar> };

/** Facts about an engine and the hardware under it. */
export interface EngineInfo {
  readonly backend: BackendName;
  /** What a person would call the hardware: "NVIDIA H100 80GB HBM3", "CPU, 2 threads". */
  readonly name: string;
  /** True for a GPU that is emulated on the CPU (SwiftShader, llvmpipe). */
  readonly software: boolean;
  /** Worker threads the cpu engine may use, itself included; 0 for GPUs. */
  readonly threads: number;
  /** Facts about the hardware, as its driver words them: vendor, architecture, device, description. Empty for cpu. */
  readonly hardware: Readonly<Record<string, string>>;
  /** Limits and features worth printing: bytes of the largest binding, workgroup sizes, … */
  readonly limits: Readonly<Record<string, number>>;
  readonly features: readonly string[];
  /** The GPUs of a device of several: their numbers, names and bytes of memory. */
  readonly gpus?: readonly { readonly gpu: number; readonly name: string; readonly memory: number }[];
}

/** Where results are wanted. */
export type Placement = "host" | "device";
/** Memory of the host that a column of results is written to, from its first element on. */
export type ColumnTarget<T extends ScalarType = ScalarType> = ScalarArrays[T] | PinnedArray<T, "readback">;
/** Memory of the host for results: for a column, or of a composite type a list for its columns. */
export type Target<T extends ElementType> = T extends ScalarType
  ? ColumnTarget<T>
  : { readonly [I in keyof T]: ColumnTarget<T[I] & Scalar> };
/** Where results go: to new arrays, or to targets, a column each, in the order that the operation names. */
export type Destination = Placement | readonly ColumnTarget[];
/** A result column: a typed array on the host that is as long as the result, a device array, or the pinned target. */
export type ColumnOutput<T extends ScalarType = ScalarType> = ColumnTarget<T> | DeviceArray<T>;
/** Results: a column, or of a composite type a list of columns. */
export type Output<T extends ElementType> = T extends ScalarType
  ? ColumnOutput<T>
  : { readonly [I in keyof T]: ColumnOutput<T[I] & Scalar> };

/** Options that every bulk operation takes. */
export interface CallOptions {
  /** One byte per element; elements whose byte is 0 are left out and count nowhere. */
  readonly where?: Input<"u8">;
  /** Looked at between chunks; when aborted the operation rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called between chunks and at the end with elements done and elements in all. */
  readonly onProgress?: (done: number, total: number) => void;
  /** How to go about the batch; left to the engine unless told. Results are the same. */
  readonly strategy?: Strategy;
  /** Slots a direct probe looks at in one step; left to the engine unless told. */
  readonly groupSize?: GroupSize;
  /** To be filled in with what the call does. */
  readonly log?: PlanLog;
  /** Looked at between chunks: throws when the caller has taken away what is read or written. */
  readonly checkInputs?: () => void;
}

/** Options of `choose`. It is a part of a call, and tells no progress. */
export type ChooseCall = Pick<CallOptions, "where" | "signal" | "checkInputs">;

/** Options of `insert`. */
export interface InsertCall extends CallOptions {
  /**
   * Where to say which elements were rejected: a device array of the engine, as long as the keys and no other column of
   * the call. Every element is written: 1 for an element whose key is not in the table because no slot was free, else
   * 0, also for elements that `where` leaves out. So the same batch with `rejected` as its mask is what is left to
   * insert. The caller gives the array, so that nothing needs to be allocated when the table turns out to be full. It
   * may be written up to the end of the 32-bit word that it ends in.
   */
  readonly rejected?: DeviceArray<"u8">;
}

/** What bulk calls do that are not told. */
export interface BulkDefaults {
  readonly strategy?: Strategy;
  readonly groupSize?: GroupSize;
}

/**
 * How an insert treats a key that is there already. `keep`: first writer wins. Others combine the old value with the
 * new.
 */
export type InsertPolicy = "keep" | "assign" | ApplyOp;
/** Read-modify-write operations on values in one column. add wraps for integers; and, or, xor are for integers only. */
export type ApplyOp = "add" | "min" | "max" | "and" | "or" | "xor";

/** What became of the elements of an insert: the three add up to the elements selected by `where`. */
export interface InsertTally {
  /** New keys. */
  inserted: number;
  /** Elements whose key was in the table or came in earlier in the same batch. */
  existing: number;
  /** Elements whose key is not in the table because no slot was free. */
  rejected: number;
}

/** One element of each key of a batch. */
export interface Chosen {
  /** A byte an element: 1 for those that were chosen. Whoever gets it frees it. */
  readonly chosen: DeviceArray<"u8">;
  /** Elements that the call's mask selects. */
  readonly selected: number;
}

/** A table's health, measured by a scan of all slots. */
export interface TableStats {
  /** Entries, counted in the scan (side slots included). */
  live: number;
  /** Erased slots not taken again. */
  tombstones: number;
  /**
   * Entries by probe length: element i counts the entries found after i + 1 slots; the last element also counts longer
   * ones. Side slot entries count as length 1.
   */
  probeLengths: Float64Array;
  /** Mean probe length over all entries; 0 for an empty table. */
  meanProbeLength: number;
  /** Longest probe length of any entry now; 0 for an empty table. */
  maxProbeLength: number;
}

/** What a look-up writes for absent keys: an element of the values' type, a list for a composite. */
export type Missing = ElementOf<ElementType>;

/** Elements of the probe length histogram. */
export const PROBE_HISTOGRAM = 256;

/** A table of one engine. */
export interface Table<K extends KeyType = KeyType, V extends ValueType = ValueType> {
  readonly spec: TableSpec;
  /** Entries in the table: exact whenever no operation is under way, also after one was aborted or failed. */
  readonly live: number;
  /** Erased slots not taken again: exact when `live` is. */
  readonly tombstones: number;
  /**
   * What a call does is what going through its batch in input order would do: the first of equal keys inserts, the last
   * one assigns.
   */
  readonly inOrder?: boolean;
  /** Of the elements with one key, among those that `where` selects, chooses the first or the last. Changes nothing. */
  choose(keys: Input<K>, which: "first" | "last", call: ChooseCall): Promise<Chosen>;
  /** Inserts pairs (`values` null for sets). */
  insert(
    keys: Input<K>,
    values: Input<V> | null,
    policy: InsertPolicy,
    call: InsertCall,
  ): Promise<InsertTally>;
  /**
   * `insert` with policy keep that also says per element whether it inserted its key, and (maps) the value that is now
   * stored. Targets: flags, values.
   */
  insertAndFind(
    keys: Input<K>,
    values: Input<V> | null,
    output: Destination,
    call: CallOptions,
  ): Promise<InsertTally & { values: Output<V> | null; insertedFlags: Output<"u8"> }>;
  /**
   * Looks keys up; `missing`, an element of the values' type, is written for keys not there. A set answers with the
   * stored keys as values. Targets: values, found.
   */
  find(
    keys: Input<K>,
    missing: Missing,
    output: Destination,
    call: CallOptions,
  ): Promise<{ values: Output<V>; found: Output<"u8"> }>;
  /** `find` without the values. Target: found. */
  contains(keys: Input<K>, output: Destination, call: CallOptions): Promise<Output<"u8">>;
  /** Takes keys out; of equal keys in a batch exactly one counts as erased. */
  erase(keys: Input<K>, call: CallOptions): Promise<number>;
  /** All entries in an unspecified order. Targets: keys, values. */
  retrieveAll(output: Destination, call: CallOptions): Promise<{ keys: Output<K>; values: Output<V> | null }>;
  /** Takes everything out, tombstones too. */
  clear(): Promise<void>;
  stats(): Promise<TableStats>;
  /** Frees the memory. Idempotent. */
  destroy(): void;
}

/** How an engine goes about the memory that nobody uses. */
export interface DeviceMemoryOptions {
  /** Bytes of it that are kept for the next table, array or call, at most; 0 keeps none. */
  readonly keep?: number;
}

/** The memory of a device, in bytes. */
export interface MemoryUse {
  /** All of it: `inUse` and `kept`. */
  readonly held: number;
  /** Of tables, device arrays, pinned arrays and calls under way. */
  readonly inUse: number;
  /** Unused: the next table, array or call takes it, and allocates nothing. */
  readonly kept: number;
  /**
   * Most bytes that were in use at once. A GPU keeps no more than twice that and 64 MiB, the cpu engine no more than
   * that, whatever the bound.
   */
  readonly peak: number;
  /** The bound on `kept`. */
  readonly keep: number;
}

/** Bulk calls that an engine can make ready for. */
export type BulkCall = "insert" | "insertOrAssign" | "insertAndFind" | "find" | "contains" | "erase";

/** Levels that an engine may lack: its device then has those of the host (cpu/host-levels.ts). @internal */
export type Level = "rows" | "lists" | "sketches" | "dictionary";

/** An engine that may lack levels. @internal */
export type BareEngine = Omit<Engine, Level> & Partial<Pick<Engine, Level>>;

/** An engine: opened by `openDevice`, one per device. @internal */
export interface Engine {
  readonly info: EngineInfo;
  readonly traits: EngineTraits;
  /** For calls that say nothing of their own. */
  readonly defaults: BulkDefaults;
  /**
   * Of the hashes of rows, and of strings in dictionaries without a seed of their own: 32 bits, of which nothing shows
   * in results.
   */
  readonly hashSeed: number;
  /**
   * The threads that it works on, which its device uses for other work, too; a device makes some for an engine without.
   */
  readonly host?: HostPool;
  /** For programs that use the API under the engine themselves; absent where there is none. */
  readonly interop?: Interop;
  /** Resolves when the engine can no longer be used; never rejects. */
  readonly lost: Promise<{ reason: string; message: string }>;
  /** A copy of `data` in the engine's memory. */
  upload<T extends ScalarType>(type: T, data: ScalarArrays[T]): Promise<DeviceArray<T>>;
  /** Zeroed memory of the engine. */
  allocate<T extends ScalarType>(type: T, length: number): Promise<DeviceArray<T>>;
  /** Zeroed memory of the host that operations copy from or to by themselves. */
  pin<T extends ScalarType, U extends PinnedUse>(type: T, length: number, use: U): Promise<PinnedArray<T, U>>;
  /** @param entries that it is to hold: the engine makes ready for inserts and finds of so many, while others go on. */
  createTable<K extends KeyType, V extends ValueType>(
    spec: TableSpec,
    entries?: number,
  ): Promise<Table<K, V>>;
  /** An empty dictionary, for a table of strings; loaded on first use. */
  dictionary(spec: DictionarySpec): Promise<Dictionary>;
  /** Makes ready for calls on tables of `entries` entries, so that the first of each takes no longer than the next. */
  prepare(spec: TableSpec, entries: number, calls: readonly BulkCall[]): Promise<void>;
  readonly memory: MemoryUse;
  /** Frees unused memory; answers its bytes. */
  trim(): number;
  /** What relational operators ask for; loaded on first use. */
  rows(): Promise<RowOperations>;
  /** What sketches ask for; loaded on first use. */
  sketches(): Promise<SketchOperations>;
  /** What multimaps and multisets ask for; loaded on first use. */
  lists(): Promise<ListOperations>;
  /**
   * Frees all memory, ends workers, makes pending operations reject with DeviceLostError("destroyed"). Idempotent. A
   * caller's own device is left alive.
   */
  destroy(): void;
}
