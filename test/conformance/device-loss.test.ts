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

/** How calls end, by name: "resolved", "still waiting", or the error's code, or the error itself where it has none. */
class Outcomes {
  readonly #ends = new Map<string, Promise<unknown>>();

  add(name: string, call: Promise<unknown>): void {
    const end = call.then(
      () => "resolved",
      (error) => (error as DeviceLostError).code ?? error,
    );
    this.#ends.set(name, end);
  }

  /** Waits a little while for those that have not ended. */
  async byName(): Promise<Record<string, unknown>> {
    const late = new Promise((resolve) => setTimeout(resolve, PROMPT_MS, "still waiting"));
    const ends = [...this.#ends].map(async ([name, end]) => [name, await Promise.race([end, late])]);
    return Object.fromEntries(await Promise.all(ends));
  }

  /** All of them ended in DeviceLostError. */
  async expectAllLost(): Promise<void> {
    const lost = Object.fromEntries([...this.#ends.keys()].map((name) => [name, "DEVICE_LOST"]));
    expect(await this.byName()).toEqual(lost);
  }
}

describe("a device that is destroyed", () => {
  it("makes every call in flight reject with DeviceLostError, at once", async () => {
    const device = await openTestDevice();
    const outcomes = new Outcomes();
    for (const { name, make } of await readyCalls(device)) outcomes.add(name, make());
    device.destroy();
    await outcomes.expectAllLost();
  });

  it("ends copies and creations in flight, done or with DeviceLostError, at once", async () => {
    const device = await openTestDevice();
    const array = await device.upload(keys);
    const outcomes = new Outcomes();
    outcomes.add("read", array.read());
    outcomes.add("upload", device.upload(keys));
    outcomes.add("allocate", device.allocate("u8", 1000));
    outcomes.add("create", newMap(device));
    device.destroy();
    for (const end of Object.values(await outcomes.byName()))
      expect(["resolved", "DEVICE_LOST"]).toContain(end);
  });

  it("ends calls that had begun, done or with DeviceLostError, at once", async () => {
    const count = scaled(2_000_000, 400_000);
    const device = await openTestDevice();
    const maps = await Promise.all([newMap(device, count), newMap(device, count), newMap(device, count)]);
    const many = uniqueKeys(count);
    await maps[2].insert(many, many);
    const outcomes = new Outcomes();
    outcomes.add("insert", maps[0].insert(many, many));
    outcomes.add("insertOrApply", maps[1].insertOrApply(many, many, "add"));
    outcomes.add("erase", maps[2].erase(many));
    for (let i = 0; i < 20; i++) outcomes.add("the last of many that wait", maps[2].insert(many, many));
    await new Promise((resolve) => setTimeout(resolve, 5));
    device.destroy();
    const ends = await outcomes.byName();
    for (const end of Object.values(ends)) expect(["resolved", "DEVICE_LOST"]).toContain(end);
    expect(ends["the last of many that wait"]).toBe("DEVICE_LOST");
  });

  it("makes every later call reject with DeviceLostError", async () => {
    const device = await openTestDevice();
    const ready = await readyCalls(device);
    const array = await device.upload(keys);
    device.destroy();
    const outcomes = new Outcomes();
    for (const { name, make } of ready) outcomes.add(name, make());
    outcomes.add("read", array.read());
    outcomes.add("upload", device.upload(keys));
    outcomes.add("allocate", device.allocate("u32", 10));
    outcomes.add("create a map", newMap(device));
    outcomes.add("create a set", newSet(device));
    await outcomes.expectAllLost();
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
    const outcomes = new Outcomes();
    for (const { name, make } of ready) outcomes.add(`${name} before`, make());
    device.gpuDevice!.destroy();
    await device.lost;
    for (const { name, make } of ready) outcomes.add(`${name} after`, make());
    await outcomes.expectAllLost();
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
