/** Devices that warpmap opens itself: what is refused and why, several at once, many calls at once, results on the device. */
import { describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/engine.js";
import { gather } from "../../../src/host/gather.js";
import {
  BackendUnavailableError,
  type DeviceArray,
  DeviceLostError,
  listDevices,
  openDevice,
  StaticMap,
  StaticSet,
} from "../../../src/index.js";
import { expectAllSet, expectSame, rejection } from "../../conformance/helpers/checks.js";
import { onSoftwareGpu, openTestDevice, useDevice } from "../../conformance/helpers/device.js";
import { counting, uniqueKeys } from "../../conformance/helpers/keys.js";

describe("openDevice", () => {
  // the kind of GPU that this machine has not
  const software = !onSoftwareGpu;

  it("does not take a GPU of the other kind, and says what it found", async () => {
    const error = await rejection(openDevice({ backend: "webgpu", software }), BackendUnavailableError);
    expect(error.code).toBe("BACKEND_UNAVAILABLE");
    expect(error.tried.map(({ backend }) => backend)).toEqual(["webgpu"]);
    expect(error.tried[0].reason).toMatch(
      software ? /no software GPU/ : /only GPU is a software one.*swiftshader/i,
    );
    expect(error.fix).toMatch(software ? /SwiftShader/ : /software: true/);
    expect(error.message).toContain(error.tried[0].reason);
  });

  it("describes the GPU that it opens", async () => {
    using device = await openTestDevice();
    const { info } = device;
    expect(info).toMatchObject({ backend: "webgpu", software: onSoftwareGpu, threads: 0 });
    expect(info.name.length).toBeGreaterThan(3);
    expect(info.limits.maxStorageBufferBindingSize).toBeGreaterThanOrEqual(128 * 2 ** 20);
    expect(info.reason).toMatch(onSoftwareGpu ? /software GPU was asked for/ : /webgpu engine was asked for/);
    const listed = await listDevices({ software: onSoftwareGpu });
    expect(listed.find((each) => each.backend === "webgpu" && each.available)?.info?.name).toBe(info.name);
  });

  it("opens several devices in one process, which do not know of each other", async () => {
    const [first, second] = await Promise.all([openTestDevice(), openTestDevice()]);
    const [a, b] = await Promise.all(
      [first, second].map((device) => StaticSet.create(device, { key: "u32", capacity: 5000 })),
    );
    await Promise.all([a.insert(uniqueKeys(5000)), b.insert(uniqueKeys(4000, 3000))]);
    expect([a.size, b.size]).toEqual([5000, 4000]);
    first.destroy();
    expect(await first.lost).toMatchObject({ reason: "destroyed" });
    await rejection(a.contains(uniqueKeys(10)), DeviceLostError);
    expectAllSet(await b.contains(uniqueKeys(4000, 3000)), 4000);
    second.destroy();
  });

  it("ends with destroy: calls under way reject, and so do later ones", async () => {
    const device = await openTestDevice();
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 100_000 });
    const array = await device.upload(counting(10));
    const rows = await (device as unknown as { engine: Engine }).engine.rows();
    const noRows = { rows: 0, columns: [] };
    const keys = uniqueKeys(100_000);
    const outcomes = Promise.allSettled([map.insert(keys, keys), map.find(keys), map.stats()]);
    device.destroy();
    device.destroy();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { code: "DEVICE_LOST", reason: "destroyed" },
      });
    }
    const later = [
      map.clear(),
      array.read(),
      device.allocate("u8", 1),
      map.rehash(10),
      rows.match(noRows, noRows, "inner", { nullsEqual: false }),
      rows.group(noRows, { nullsEqual: false }),
      device.host().then((host) => gather(host, [], async () => {})),
    ];
    await Promise.all(later.map((call) => rejection(call, DeviceLostError)));
    map.destroy();
    array.destroy();
  });
});

describe("a device", () => {
  const device = useDevice();

  it("has hundreds of calls in flight", async () => {
    const sets = await Promise.all(
      counting(200).reduce<Promise<StaticSet>[]>((all, i) => {
        all.push(StaticSet.create(device(), { key: "u32", capacity: 10 + i }));
        return all;
      }, []),
    );
    const tallies = await Promise.all(sets.map((set, i) => set.insert(uniqueKeys(10 + i, i))));
    expect(tallies.map(({ inserted }) => inserted)).toEqual(sets.map((_, i) => 10 + i));
    const found = await Promise.all(sets.map((set, i) => set.contains(uniqueKeys(400, i))));
    found.forEach((flags, i) => {
      expectSame(
        flags,
        flags.map((_, at) => Number(at < 10 + i)),
      );
    });
    for (const set of sets) set.destroy();
  });

  it("queues hundreds of calls on one table", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 1000 });
    const calls: Promise<unknown>[] = [];
    for (let i = 0; i < 80; i++) {
      calls.push(map.insertOrAssign(uniqueKeys(5, 5 * i), counting(5, i)));
      calls.push(map.erase(uniqueKeys(1, 5 * i)));
    }
    await Promise.all(calls);
    expect(map.size).toBe(320);
  });

  it("gives results on the device in ranges that start anywhere", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 100 });
    await set.insert(uniqueKeys(50));
    const keys = counting(203).map((i) => uniqueKeys(1, i % 100)[0]);
    using flags = await set.contains(keys, { output: "device" });
    const expected = keys.map((_, i) => Number(i % 100 < 50));
    for (let start = 0; start < 9; start++) {
      for (const end of [start, start + 1, start + 2, start + 3, 100, 101, 199, 202, 203]) {
        expectSame(await flags.read(start, end), expected.subarray(start, end));
      }
    }
    expectSame(await flags.read(200), expected.subarray(200));
    using found = (await set.find(keys, { output: "device", missing: 9 })).keys as DeviceArray<"u32">;
    expectSame(await found.read(47, 53), [...keys.subarray(47, 50), 9, 9, 9]);
  });
});
