import { describe, expect, it } from "vitest";
import { type Device, DeviceLostError, StaticMap, StaticSet } from "../../src/index.js";
import { rejection } from "./helpers/checks.js";
import { onWebgpu, openTestDevice, scaled } from "./helpers/device.js";
import { mapCalls, setCalls } from "./helpers/every-call.js";
import { uniqueKeys } from "./helpers/keys.js";

/** A call that is under way when its device goes must not wait for anything. */
const PROMPT_MS = 5000;

const keys = uniqueKeys(1000);
const newMap = (device: Device, capacity = 1000) =>
  StaticMap.create(device, { key: "u32", value: "u32", capacity });
const newSet = (device: Device, capacity = 1000) => StaticSet.create(device, { key: "u32", capacity });

/** Every call of maps and sets, each on a filled container of its own, ready to be made. */
async function readyCalls(device: Device): Promise<{ name: string; make: () => Promise<unknown> }[]> {
  const calls = [];
  for (const [name, call] of Object.entries(mapCalls)) {
    const map = await newMap(device);
    await map.insert(keys, keys);
    calls.push({ name: `map.${name}`, make: () => call(map, keys) });
  }
  for (const [name, call] of Object.entries(setCalls)) {
    const set = await newSet(device);
    await set.insert(keys);
    calls.push({ name: `set.${name}`, make: () => call(set, keys) });
  }
  return calls;
}

/** How each call ended: "resolved", or its error's code, or the error itself where it has none. */
async function outcomes(calls: { name: string; call: Promise<unknown> }[]): Promise<Record<string, unknown>> {
  const late = new Promise((resolve) => setTimeout(resolve, PROMPT_MS, "still waiting"));
  const ended: Record<string, unknown> = {};
  for (const { name, call } of calls) {
    const end = call.then(
      () => "resolved",
      (error) => (error as DeviceLostError).code ?? error,
    );
    ended[name] = await Promise.race([end, late]);
  }
  return ended;
}

/** Every name with one and the same outcome. */
function all(names: string[], outcome: unknown): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, outcome]));
}

describe("a device that is destroyed", () => {
  it("makes every call in flight reject with DeviceLostError, at once", async () => {
    const device = await openTestDevice();
    const ready = await readyCalls(device);
    const array = await device.upload(keys);
    const started = ready.map(({ name, make }) => ({ name, call: make() }));
    started.push({ name: "read", call: array.read() });
    started.push({ name: "upload", call: device.upload(keys) });
    started.push({ name: "create", call: newMap(device) });
    device.destroy();
    const ended = await outcomes(started);
    // a copy to or from memory that needs no device's time may be done already
    for (const quick of ["read", "upload", "create"]) if (ended[quick] === "resolved") delete ended[quick];
    expect(ended).toEqual(all(Object.keys(ended), "DEVICE_LOST"));
  });

  it("ends calls that had begun, done or with DeviceLostError, at once", async () => {
    const count = scaled(2_000_000, 400_000);
    const device = await openTestDevice();
    const maps = await Promise.all([newMap(device, count), newMap(device, count), newMap(device, count)]);
    const many = uniqueKeys(count);
    await maps[2].insert(many, many);
    const started = [
      { name: "insert", call: maps[0].insert(many, many) },
      { name: "insertOrApply", call: maps[1].insertOrApply(many, many, "add") },
      { name: "erase", call: maps[2].erase(many) },
      { name: "find, waiting", call: maps[2].find(many) },
    ];
    await new Promise((resolve) => setTimeout(resolve, 5));
    device.destroy();
    const ended = await outcomes(started);
    for (const end of Object.values(ended)) expect(["resolved", "DEVICE_LOST"]).toContain(end);
    expect(ended["find, waiting"]).toBe("DEVICE_LOST");
  });

  it("makes every later call reject with DeviceLostError", async () => {
    const device = await openTestDevice();
    const ready = await readyCalls(device);
    const array = await device.upload(keys);
    device.destroy();
    const started = ready.map(({ name, make }) => ({ name, call: make() }));
    started.push({ name: "read", call: array.read() });
    started.push({ name: "upload", call: Promise.resolve().then(() => device.upload(keys)) });
    started.push({ name: "allocate", call: Promise.resolve().then(() => device.allocate("u32", 10)) });
    started.push({ name: "create a map", call: newMap(device) });
    started.push({ name: "create a set", call: newSet(device) });
    expect(await outcomes(started)).toEqual(
      all(
        started.map(({ name }) => name),
        "DEVICE_LOST",
      ),
    );
  });

  it("says so once in `lost`, and takes destroy again", async () => {
    const device = await openTestDevice();
    device.destroy();
    device.destroy();
    expect((await device.lost).reason).toBe("destroyed");
    const error = await rejection(newMap(device), DeviceLostError);
    expect(error).toMatchObject({ name: "DeviceLostError", code: "DEVICE_LOST", reason: "destroyed" });
    expect(error.message.endsWith(error.fix)).toBe(true);
  });

  it("lets its containers and arrays be destroyed without complaint", async () => {
    const device = await openTestDevice();
    const map = await newMap(device);
    const array = await device.upload(keys);
    const call = map.insert(keys, keys);
    device.destroy();
    await rejection(call, DeviceLostError);
    map.destroy();
    map.destroy();
    array.destroy();
    await map[Symbol.asyncDispose]();
  });

  it("leaves other devices alone", async () => {
    const first = await openTestDevice();
    using second = await openTestDevice();
    using map = await newMap(second);
    const call = map.insert(keys, keys);
    first.destroy();
    expect(await call).toEqual({ inserted: 1000, existing: 0 });
    expect((await map.contains(keys)).every((flag) => flag === 1)).toBe(true);
  });

  it("is destroyed at the end of `using`", async () => {
    let device: Device;
    {
      using scoped = await openTestDevice();
      device = scoped;
      using map = await newMap(scoped);
      await map.insert(keys, keys);
    }
    expect((await device.lost).reason).toBe("destroyed");
  });
});

describe("a GPUDevice that goes away under the engine", () => {
  if (!onWebgpu) {
    it("is nothing that can happen here", async () => {
      using device = await openTestDevice();
      expect(device.gpuDevice).toBe(undefined);
    });
    return;
  }

  it("makes calls in flight and later ones reject with DeviceLostError", async () => {
    const device = await openTestDevice();
    const ready = await readyCalls(device);
    const before = ready.map(({ name, make }) => ({ name, call: make() }));
    device.gpuDevice!.destroy();
    await device.lost;
    const after = ready.map(({ name, make }) => ({ name, call: make() }));
    expect(await outcomes(before)).toEqual(
      all(
        before.map(({ name }) => name),
        "DEVICE_LOST",
      ),
    );
    expect(await outcomes(after)).toEqual(
      all(
        after.map(({ name }) => name),
        "DEVICE_LOST",
      ),
    );
    device.destroy();
  });

  it("is the caller's to keep: destroy of a device on it leaves it alive", async () => {
    using owner = await openTestDevice();
    const { gpuDevice } = owner;
    const guest = await openTestDevice({ gpuDevice, software: undefined as never });
    expect([guest.gpuDevice, guest.info.reason]).toEqual([gpuDevice, "The caller's own GPUDevice."]);
    const map = await newMap(guest);
    const call = map.insert(keys, keys);
    guest.destroy();
    await rejection(call, DeviceLostError);
    await rejection(newMap(guest), DeviceLostError);
    using mine = await newMap(owner);
    expect(await mine.insert(keys, keys)).toEqual({ inserted: 1000, existing: 0 });
  });
});
