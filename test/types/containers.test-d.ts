/** What the generics promise, checked by `npm run typecheck`. Nothing here runs. */
import {
  type BackendUnavailableError,
  type CapacityError,
  type ContainerKey,
  type Device,
  DeviceArray,
  type DeviceLostError,
  DynamicMap,
  DynamicSet,
  type ElementOf,
  type EngineError,
  type ErrorCode,
  type LimitError,
  PinnedArray,
  type Placement,
  type Plan,
  StaticMap,
  StaticMultimap,
  StaticMultiset,
  StaticSet,
  type ValidationError,
  type ValueType,
  type WarpmapError,
} from "../../src/index.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** A compile error unless the expression's type is exactly T. */
function typed<T>() {
  return <A>(_actual: A, ..._same: Equal<A, T> extends true ? [] : ["is", A, "not", T]): void => {};
}

declare const device: Device;
const u32 = new Uint32Array(1);
const i32 = new Int32Array(1);
const f32 = new Float32Array(1);
const u64 = new BigUint64Array(1);
const u8 = new Uint8Array(1);

export async function mapResults(): Promise<void> {
  const map = await StaticMap.create(device, { key: "u32", value: "f32", capacity: 10 });
  typed<StaticMap<"u32", "f32">>()(map);
  typed<Device>()(map.device);
  typed<"u32">()(map.keyType);
  typed<string>()(map.toString());
  typed<"f32">()(map.valueType);
  typed<{ inserted: number; existing: number }>()(await map.insert(u32, f32));
  typed<{ inserted: number; assigned: number }>()(await map.insertOrAssign(u32, f32));
  typed<{ inserted: number; applied: number }>()(await map.insertOrApply(u32, f32, "add"));
  typed<{ erased: number }>()(await map.erase(u32));
  typed<Uint8Array>()(await map.contains(u32));
  typed<{ values: Float32Array; found: Uint8Array }>()(await map.find(u32));
  typed<{ inserted: number; existing: number; values: Float32Array; isNew: Uint8Array }>()(
    await map.insertAndFind(u32, f32),
  );
  typed<{ keys: Uint32Array; values: Float32Array }>()(await map.retrieveAll());
  await map.forEach((value, key) => {
    typed<number>()(value);
    typed<number>()(key);
  });
}

export async function deviceResults(): Promise<void> {
  const map = await StaticMap.create(device, { key: "i32", value: "f32", capacity: 10 });
  const output = "device" as const;
  typed<DeviceArray<"u8">>()(await map.contains(i32, { output }));
  typed<{ values: DeviceArray<"f32">; found: DeviceArray<"u8"> }>()(await map.find(i32, { output }));
  typed<{ inserted: number; existing: number; values: DeviceArray<"f32">; isNew: DeviceArray<"u8"> }>()(
    await map.insertAndFind(i32, f32, { output }),
  );
  typed<{ keys: DeviceArray<"i32">; values: DeviceArray<"f32"> }>()(await map.retrieveAll({ output }));
  typed<{ values: Float32Array; found: Uint8Array }>()(await map.find(i32, { output: "host" }));
  const { values, found } = await map.find(i32, { output });
  typed<Float32Array>()(await values.read());
  await map.contains(i32, { mask: found });
  const either = "host" as Placement;
  typed<Uint8Array | DeviceArray<"u8">>()(await map.contains(i32, { output: either }));
}

export async function plans(): Promise<void> {
  const map = await StaticMap.create(device, { key: "u32", value: "f32", capacity: 10 });
  const onPlan = (plan: Plan) => typed<"direct" | "partitioned">()(plan.strategy);
  typed<{ inserted: number; existing: number }>()(await map.insert(u32, f32, { onPlan }));
  typed<{ values: Float32Array; found: Uint8Array }>()(await map.find(u32, { onPlan }));
  typed<Uint8Array>()(await map.contains(u32, { onPlan }));
  typed<{ erased: number }>()(await map.erase(u32, { onPlan }));
  typed<{ keys: Uint32Array; values: Float32Array }>()(await map.retrieveAll({ onPlan }));
}

export async function setResults(): Promise<void> {
  const set = await StaticSet.create(device, { key: "f32", capacity: 10 });
  typed<StaticSet<"f32">>()(set);
  typed<{ keys: Float32Array; found: Uint8Array }>()(await set.find(f32));
  typed<{ inserted: number; existing: number; isNew: Uint8Array }>()(await set.insertAndFind(f32));
  typed<{ keys: DeviceArray<"f32"> }>()(await set.retrieveAll({ output: "device" }));
  typed<{ inserted: number; existing: number }>()(await set.insert(await device.upload(f32)));
}

export async function dynamicResults(): Promise<void> {
  const map = await DynamicMap.create(device, { key: "u32", value: "f32" });
  typed<DynamicMap<"u32", "f32">>()(map);
  typed<"f32">()(map.valueType);
  typed<{ inserted: number; existing: number }>()(await map.insert(u32, f32));
  typed<{ inserted: number; applied: number }>()(await map.insertOrApply(u32, f32, "add"));
  typed<{ values: Float32Array; found: Uint8Array }>()(await map.find(u32));
  typed<{ keys: DeviceArray<"u32">; values: DeviceArray<"f32"> }>()(
    await map.retrieveAll({ output: "device" }),
  );
  typed<void>()(await map.reserve(10));
  typed<void>()(await map.shrinkToFit());
  const options = { key: "u64", growthFactor: 1.5, maxBytes: 1e9, capacity: 10, maxLoadFactor: 0.9 } as const;
  const set = await DynamicSet.create(device, options);
  typed<DynamicSet<"u64">>()(set);
  typed<{ keys: BigUint64Array; found: Uint8Array }>()(await set.find(u64, { missing: 0n }));
  const still = await StaticMap.create(device, { key: "u32", value: "f32", capacity: 10 });
  typed<StaticMap<"u32", "f32">>()(await still.clone());
  typed<DynamicMap<"u32", "f32">>()(await map.clone());
  typed<{ inserted: number; existing: number }>()(await map.merge(still, "add"));
  typed<Uint8Array<ArrayBuffer>>()(await map.toBytes());
  typed<DynamicSet<"f32">>()(await DynamicSet.fromBytes<"f32">(device, u8, { maxBytes: 1e9 }));
  typed<StaticMap<ContainerKey, ValueType>>()(await StaticMap.fromBytes(device, u8));
  for await (const piece of map.chunks({ chunk: 10 })) {
    typed<{ keys: Uint32Array; values: Float32Array }>()(piece);
  }
  for await (const piece of set.chunks()) typed<{ keys: BigUint64Array }>()(piece);
  // @ts-expect-error: a map of other types
  await map.merge(await StaticMap.create(device, { key: "i32", value: "f32", capacity: 10 }));
  // @ts-expect-error: values of another type
  await map.insert(u32, i32);
  // @ts-expect-error: maps have values
  await DynamicMap.create(device, { key: "u32" });
  // @ts-expect-error: made by create
  new DynamicSet({});
  // @ts-expect-error: a map that grows is not one of fixed capacity
  typed<StaticMap<"u32", "f32">>()(map);
}

export async function wideResults(): Promise<void> {
  const map = await StaticMap.create(device, { key: "u64", value: "f32", capacity: 10 });
  typed<StaticMap<"u64", "f32">>()(map);
  typed<{ inserted: number; existing: number }>()(await map.insert(u64, f32));
  typed<{ values: Float32Array; found: Uint8Array }>()(await map.find(u64, { missing: 1.5 }));
  typed<{ keys: BigUint64Array; values: Float32Array }>()(await map.retrieveAll());
  await map.forEach((value, key) => {
    typed<number>()(value);
    typed<bigint>()(key);
  });
  const counts = await StaticMap.create(device, { key: "u32", value: "u64", capacity: 10 });
  typed<{ values: BigUint64Array; found: Uint8Array }>()(await counts.find(u32, { missing: 5n }));
  typed<{ values: DeviceArray<"u64">; found: DeviceArray<"u8"> }>()(
    await counts.find(u32, { missing: 5n, output: "device" }),
  );
  const set = await StaticSet.create(device, { key: "u64", capacity: 10 });
  typed<{ keys: BigUint64Array; found: Uint8Array }>()(await set.find(u64, { missing: 0n }));
  await set.forEach((key) => {
    typed<bigint>()(key);
  });
  typed<DeviceArray<"u64">>()(await device.upload(u64));
  typed<BigUint64Array>()(await (await device.allocate("u64", 5)).read());
  typed<bigint>()(0n as ElementOf<"u64">);
  // @ts-expect-error: missing is an element of the values
  await map.find(u64, { missing: 1n });
  // @ts-expect-error: a bigint for u64
  await counts.find(u32, { missing: 5 });
  // @ts-expect-error: in sets an element of the keys
  await set.find(u64, { missing: 0 });
  // @ts-expect-error: keys of another type
  await map.insert(u32, f32);
  // @ts-expect-error: signed integers of 64 bits are another type
  await map.contains(new BigInt64Array(1));
}

export async function compositeResults(): Promise<void> {
  const map = await StaticMap.create(device, { key: ["u32", "f32"], value: ["f64", "i64"], capacity: 10 });
  const keys = [u32, f32] as const;
  typed<readonly ["u32", "f32"]>()(map.keyType);
  const values = [new Float64Array(1), new BigInt64Array(1)] as const;
  typed<{ inserted: number; existing: number }>()(await map.insert(keys, values));
  const found = await map.find([u32, await device.upload(f32)], { missing: [1.5, 2n] });
  typed<readonly [Float64Array, BigInt64Array]>()(found.values);
  const onDevice = await map.find(keys, { output: "device" });
  typed<readonly [DeviceArray<"f64">, DeviceArray<"i64">]>()(onDevice.values);
  await map.forEach((value, key) => {
    typed<readonly [number, bigint]>()(value);
    typed<readonly [number, number]>()(key);
  });
  // @ts-expect-error: the columns in another order
  await map.insert([f32, u32], values);
  // @ts-expect-error: an element for each column
  await map.find(keys, { missing: 1.5 });
  // @ts-expect-error: a scalar that there is not
  await StaticSet.create(device, { key: ["u8"], capacity: 10 });
}

export async function deviceArrays(): Promise<void> {
  typed<DeviceArray<"u32">>()(await device.upload(u32));
  typed<DeviceArray<"i32">>()(await device.upload(i32));
  typed<DeviceArray<"f32">>()(await device.upload(f32));
  typed<DeviceArray<"u8">>()(await device.upload(new Uint8Array(1)));
  typed<DeviceArray<"i32">>()(await device.allocate("i32", 5));
  typed<DeviceArray<"f32">>()(device.wrap({} as GPUBuffer, { type: "f32", byteOffset: 4 }));
  typed<DeviceArray<"u64">>()(device.wrap({ pointer: 4096n, byteLength: 8, type: "u64" }));
  typed<DeviceArray<"u8">>()(device.wrap({ pointer: 4096, byteLength: 8 }));
  typed<DeviceArray>()(device.wrap({ data: 4096n, shape: [2], dtype: "int32", strides: null }));
  // @ts-expect-error: elements of no such type
  device.wrap({ pointer: 4096n, byteLength: 8, type: "i16" });
  const signed = await device.allocate("i32", 5);
  typed<bigint | undefined>()(signed.pointer);
  typed<Int32Array>()(await signed.read(1, 2));
  typed<void>()(await signed.write(i32));
  typed<void>()(await signed.write(i32, 4));
  // @ts-expect-error: elements of another type
  await signed.write(u32);
  // @ts-expect-error: an Array is not a typed array
  await signed.write([1, 2]);
}

export async function pinnedArrays(): Promise<void> {
  const map = await StaticMap.create(device, { key: "i32", value: "f32", capacity: 10 });
  const keys = await device.pinned("i32", 5, "upload");
  const values = await device.pinned("f32", 5, "readback");
  const found = await device.pinned("u8", 5, "readback");
  typed<PinnedArray<"i32", "upload">>()(keys);
  typed<Int32Array>()(keys.array);
  typed<{ values: Float32Array; found: Uint8Array }>()(await map.find(keys, { into: { values, found } }));
  typed<Uint8Array>()(await map.contains(keys, { into: { found } }));
  typed<Uint8Array>()(await map.contains(keys, { into: { found: new Uint8Array(5) } }));
  // @ts-expect-error: results are not inputs
  await map.insert(keys, values);
  // @ts-expect-error: inputs are not results
  await map.retrieveAll({ into: { keys, values } });
  // @ts-expect-error: results of another type
  await map.contains(keys, { into: { found: values } });
  // @ts-expect-error: results have names
  await map.contains(keys, { into: found });
  // @ts-expect-error: both results need an array
  await map.find(keys, { into: { values } });
  // @ts-expect-error: a device array is no memory of the host
  await map.contains(keys, { into: { found: await device.allocate("u8", 5) } });
  // @ts-expect-error: there is no other use
  await device.pinned("u8", 5, "storage");
}

export async function wrongCalls(): Promise<void> {
  const map = await StaticMap.create(device, { key: "u32", value: "f32", capacity: 10 });
  const set = await StaticSet.create(device, { key: "u32", capacity: 10 });
  // @ts-expect-error: keys of another type
  await map.insert(i32, f32);
  // @ts-expect-error: values of another type
  await map.insert(u32, u32);
  // @ts-expect-error: an Array is not a typed array
  await map.find([1, 2]);
  // @ts-expect-error: a device array of another type
  await map.find(await device.upload(f32));
  // @ts-expect-error: no values
  await map.insertOrAssign(u32);
  // @ts-expect-error: an operation there is not
  await map.insertOrApply(u32, f32, "multiply");
  // @ts-expect-error: an output there is not
  await map.find(u32, { output: "gpu" });
  // @ts-expect-error: a mask holds bytes
  await map.contains(u32, { mask: u32 });
  // @ts-expect-error: missing is a number
  await map.find(u32, { missing: "none" });
  // @ts-expect-error: an option there is not
  await map.find(u32, { mising: 3 });
  // @ts-expect-error: retrieveAll takes no mask
  await map.retrieveAll({ mask: new Uint8Array(1) });
  // @ts-expect-error: nor a strategy
  await map.retrieveAll({ strategy: "direct" });
  // @ts-expect-error: nor a group size
  await set.retrieveAll({ groupSize: 8 });
  // @ts-expect-error: plans go to onPlan
  await map.find(u32, { explain: true });
  // @ts-expect-error: contains has no missing value
  await map.contains(u32, { missing: 3 });
  // @ts-expect-error: a set has no values
  await set.insert(u32, u32);
  // @ts-expect-error: nor has it insertOrAssign
  await set.insertOrAssign(u32);
  // @ts-expect-error: sizes are read-only
  map.capacity = 20;
  // @ts-expect-error: nor does a container move
  map.device = device;
}

export async function wrongOptions(): Promise<void> {
  // @ts-expect-error: a map needs a value type
  await StaticMap.create(device, { key: "u32", capacity: 10 });
  // @ts-expect-error: capacity is needed
  await StaticSet.create(device, { key: "u32" });
  // @ts-expect-error: a key type there is not
  await StaticSet.create(device, { key: "u8", capacity: 10 });
  // @ts-expect-error: the load now is no option
  await StaticSet.create(device, { key: "u32", capacity: 10, loadFactor: 0.9 });
  // @ts-expect-error: a set has no values
  await StaticSet.create(device, { key: "u32", value: "u32", capacity: 10 });
  // @ts-expect-error: a hash function there is not
  await StaticSet.create(device, { key: "u32", capacity: 10, hash: "fnv" });
  // @ts-expect-error: containers are made by create
  new StaticSet();
  // @ts-expect-error: device arrays by upload and allocate
  new DeviceArray(device.engine, "u32", 1, {} as never);
  // @ts-expect-error: pinned arrays by pinned
  new PinnedArray(device.engine, "u32", 1, "upload", {} as never);
  // @ts-expect-error: there are no device arrays of integers of 16 bits
  await device.upload(new Int16Array(1));
  // @ts-expect-error: nor are Arrays
  await device.upload([1]);
}

export function errors(error: CapacityError): void {
  const base: WarpmapError = error;
  typed<"CAPACITY">()(error.code);
  typed<ErrorCode>()(base.code);
  typed<"VALIDATION">()({} as ValidationError["code"]);
  typed<"LIMIT">()({} as LimitError["code"]);
  typed<"DEVICE_LOST">()({} as DeviceLostError["code"]);
  typed<"BACKEND_UNAVAILABLE">()({} as BackendUnavailableError["code"]);
  typed<"ENGINE">()({} as EngineError["code"]);
  // @ts-expect-error: a code there is not
  if (base.code === "CAPACTY") return;
  // @ts-expect-error: another class's code
  if (error.code === "LIMIT") return;
  typed<string>()(base.fix);
  typed<number>()(error.inserted + error.rejected + error.capacity);
  // @ts-expect-error: numbers of an error are read-only
  error.rejected = 0;
}

export async function multiResults(): Promise<void> {
  const map = await StaticMultimap.create(device, { key: "u32", value: "f32", capacity: 10, keyCapacity: 5 });
  typed<StaticMultimap<"u32", "f32">>()(map);
  typed<{ inserted: number }>()(await map.insert(u32, f32, { mask: u8 }));
  typed<Uint32Array>()(await map.count(u32));
  typed<DeviceArray<"u32">>()(await map.count(u32, { output: "device" }));
  typed<{ values: Float32Array; found: Uint8Array }>()(await map.find(u32, { missing: 1 }));
  typed<{ offsets: Uint32Array; values: Float32Array }>()(await map.retrieve(u32, { outer: true }));
  typed<{ offsets: DeviceArray<"u32">; values: DeviceArray<"f32"> }>()(
    await map.retrieve(u32, { output: "device" }),
  );
  typed<{ queries: Uint32Array; values: Float32Array }>()(await map.retrievePairs(u32));
  for await (const piece of map.retrieveChunks(u32, { chunk: 3 })) {
    typed<{ queries: Uint32Array; values: Float32Array }>()(piece);
  }
  typed<{ keys: Uint32Array; counts: Uint32Array }>()(await map.retrieveKeys());
  typed<{ keys: Uint32Array; values: Float32Array }>()(await map.retrieveAll());
  typed<{ erased: number }>()(await map.erasePairs(u32, f32));
  typed<StaticMultimap<"u32", "f32">>()(await map.clone());
  const set = await StaticMultiset.create(device, { key: "u64", capacity: 10 });
  typed<StaticMultiset<"u64">>()(set);
  typed<{ inserted: number }>()(await set.insert(u64));
  typed<{ offsets: Uint32Array; keys: BigUint64Array }>()(
    await set.retrieve(u64, { outer: true, missing: 1n }),
  );
  typed<{ keys: BigUint64Array; found: Uint8Array }>()(await set.find(u64));
  typed<{ keys: BigUint64Array; counts: Uint32Array }>()(await set.retrieveKeys());
  // @ts-expect-error multisets have no values
  await set.insert(u64, u32);
  // @ts-expect-error the values are f32
  await map.insert(u32, u32);
  // @ts-expect-error chunks are on the host
  map.retrieveChunks(u32, { output: "device" });
  // @ts-expect-error made by create
  new StaticMultimap();
}
