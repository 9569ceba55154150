/** warpmap: massively parallel hash tables. What users import, nothing else. */
export type {
  BulkOptions,
  ChunksOptions,
  FindOptions,
  InsertOptions,
  IntoOption,
  MaskOption,
  OutputOption,
  Placed,
  ProgressOptions,
} from "./containers/arguments.js";
export type { ContainerStats, RehashOptions } from "./containers/container.js";
export type { GrowingTableOptions, GrowthOptions } from "./containers/create-growing-table.js";
export type { MultiOptions } from "./containers/create-multi.js";
export type { HashOptions, Seed, TableOptions } from "./containers/create-table.js";
export { DynamicMap, type DynamicMapOptions } from "./containers/dynamic-map.js";
export { DynamicSet, type DynamicSetOptions } from "./containers/dynamic-set.js";
export type { RetrieveChunksOptions, RetrieveOptions } from "./containers/entry-reader.js";
export type {
  ContainerKey,
  KeyColumn,
  KeyFindOptions,
  KeyOf,
  Keys,
  KeyTarget,
  PlacedKeys,
  TableKey,
} from "./containers/key-types.js";
export type { MapContainer } from "./containers/map-container.js";
export type { MultiContainer, MultiRehashOptions, MultiStats } from "./containers/multi-container.js";
export type { TableToPrepare } from "./containers/prepare.js";
export type { SetContainer } from "./containers/set-container.js";
export { StaticMap, type StaticMapOptions } from "./containers/static-map.js";
export { StaticMultimap, type StaticMultimapOptions } from "./containers/static-multimap.js";
export { StaticMultiset, type StaticMultisetOptions } from "./containers/static-multiset.js";
export { StaticSet, type StaticSetOptions } from "./containers/static-set.js";
export type { ArrowStrings, Utf8Bytes, Utf8Keys } from "./containers/utf8/read-keys.js";
export {
  Device,
  type DeviceInfo,
  type DeviceListing,
  listDevices,
  type OpenDeviceOptions,
  openDevice,
  type ScalarOf,
} from "./device.js";
export { DeviceArray } from "./engine/device-array.js";
export type {
  ArraysOf,
  ElementOf,
  ElementType,
  KeyType,
  ValueType,
} from "./engine/element-types.js";
export type {
  ApplyOp,
  BackendName,
  BulkCall,
  ColumnInput,
  ColumnTarget,
  DeviceMemoryOptions,
  EngineInfo,
  Input,
  MemoryUse,
  Placement,
  Target,
} from "./engine/engine.js";
export type { HashName, OwnHash } from "./engine/hash-names.js";
export type { BufferView, MemoryAt, NativeOptions, NativeTypes, TensorAt } from "./engine/native.js";
export { PinnedArray, type PinnedUse } from "./engine/pinned-array.js";
export type { ChunkPlan, GroupSize, Plan, PlanPhase, Strategy } from "./engine/plan.js";
/** For packages that have an engine. @internal */
export { ENGINE_PROTOCOL, registerEngine } from "./engine/registry.js";
export type { BasicType, Scalar, ScalarArrays, ScalarType } from "./engine/scalars.js";
export type { Utf8Column } from "./engine/utf8-column.js";
export {
  BackendUnavailableError,
  CapacityError,
  DeviceLostError,
  EngineError,
  type ErrorCode,
  FormatError,
  LimitError,
  type TriedBackend,
  ValidationError,
  WarpmapError,
} from "./errors.js";
export type { SignalOption } from "./until-aborted.js";
