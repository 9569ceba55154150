/**
 * `warpmap/engine`: what engines of other packages are made of (packages/cuda is one). The seam and its classes, which
 * must be those of the containers, and the parts that GPU engines share over a GpuRuntime. For packages that are built
 * and released with this one: there are no declarations, and no promise beyond ENGINE_PROTOCOL.
 */
export {
  BackendUnavailableError,
  DeviceLostError,
  EngineError,
  LimitError,
  ValidationError,
  WarpmapError,
} from "../errors.js";
export { check, checkOneOf, checkOptions, checkWhole, describe, detached } from "../options.js";
export { ruleOf } from "./apply.js";
export { Carrier } from "./carrier.js";
export { type ArrayStorage, DeviceArray } from "./device-array.js";
export {
  type DeviceColumn,
  type DeviceKeys,
  destroyColumns,
  type JoinedColumns,
  type JoinedSide,
  type Words,
} from "./device-columns.js";
export type { Dictionary, DictionarySpec } from "./dictionary.js";
export {
  columnsOf,
  elementsOf,
  type KeyType,
  lengthOf,
  scalarsOf,
  type ValueType,
} from "./element-types.js";
export type {
  BareEngine,
  BulkCall,
  BulkDefaults,
  CallOptions,
  ChooseCall,
  Chosen,
  ColumnInput,
  ColumnOutput,
  ColumnTarget,
  Destination,
  Engine,
  EngineInfo,
  Input,
  InsertCall,
  InsertPolicy,
  InsertTally,
  MemoryUse,
  Missing,
  Output,
  Table,
  TableStats,
} from "./engine.js";
export { PROBE_HISTOGRAM } from "./engine.js";
export { canonicalise } from "./float-keys.js";
export { type Batch, bindElements, eachChunk, HOST_CHUNK } from "./gpu/batch/batches.js";
export type { BoundChunk } from "./gpu/batch/bound-chunk.js";
export {
  type Column,
  gpuArray,
  loadArrays,
  newArray,
  type Place,
  placeOf,
  Scratch,
} from "./gpu/batch/columns.js";
export { type BoundResult, resultColumns } from "./gpu/batch/results.js";
export { Submissions } from "./gpu/call.js";
export { filling } from "./gpu/fill.js";
export { getOrMake } from "./gpu/get-or-make.js";
export type { GpuHost } from "./gpu/host.js";
export type { GpuWays, PartStarts } from "./gpu/join/join-by-owners.js";
export {
  bindingsOf,
  type Constants,
  type Fragment,
  fragment,
  type KernelSource,
  kernelSource,
  read,
  readWrite,
} from "./gpu/kernel-source.js";
export { type BufferSource, GpuMemory } from "./gpu/memory/gpu-memory.js";
export { readBytes } from "./gpu/memory/read-bytes.js";
export { Pacer } from "./gpu/pacer.js";
export type {
  Bindings,
  GpuBuffer,
  GpuRuntime,
  GpuTraits,
  Kernel,
  ParamLayers,
  Params,
  PinnedPiece,
  Range,
  Readback,
  Recorder,
  Recording,
  Submitter,
} from "./gpu/runtime.js";
export { drawn, homeSlot, keyedWord } from "./hash.js";
export { hashNames, NO_SEED, type OwnHash } from "./hash-names.js";
export type { Keep } from "./keep.js";
export { checkSlots, EMPTY, MAX_SLOTS, type TableSpec, TOMBSTONE } from "./layout.js";
export { lazily } from "./lazily.js";
export type { Interop, MemoryAt, TensorAt } from "./native.js";
export { PinnedArray, type PinnedStorage, type PinnedUse } from "./pinned-array.js";
export type { PlanLog } from "./plan-log.js";
export { processSeed } from "./process-seed.js";
export type { ReduceCall, ReducedGroups, Reduction } from "./reductions.js";
export {
  ENGINE_PROTOCOL,
  type EngineKind,
  type EngineRequest,
  type OpenedEngine,
  registerEngine,
} from "./registry.js";
export type { RowOperations } from "./row-operations.js";
export { MAX_PAIRS } from "./rows.js";
export {
  allocateUnfilled,
  arrayClass,
  asBytes,
  type BasicType,
  firstOf,
  type Scalar,
  type ScalarArrays,
  type ScalarType,
  scalarBytes,
  scalarWords,
  wordsOf,
} from "./scalars.js";
export { settled } from "./settled.js";
export type {
  Combination,
  EngineFilter,
  EngineRegisters,
  EngineSketch,
  SketchOperations,
} from "./sketch-operations.js";
export { type SlotFormat, slotFormat } from "./slot-format.js";
export type { ListOperations } from "./value-lists.js";

/** Levels over a GpuHost, each in a module that the first call for it loads. */
export const loadRows = () => import("./gpu/gpu-rows.js");
/** Joins of several GPUs that GpuHosts have. */
export const loadOwnersJoin = () => import("./gpu/join/join-by-owners.js");
export const loadLists = () => import("./gpu/lists/list-operations.js");
export const loadSketches = () => import("./gpu/sketches/gpu-sketches.js");
export const loadStrings = () => import("./gpu/strings/gpu-dictionary.js");
/** First calls on an engine without a GPU, while its driver opens one. */
export const loadWarmUp = () => import("../relational/warm-up.js");
