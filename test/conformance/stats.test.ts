import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { expectSoundStats } from "./helpers/checks.js";
import { onOneTable, useDevice } from "./helpers/device.js";
import { counting, hashes, keysWithHome, sentinelPatterns, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();

describe("stats", () => {
  it("of an empty table", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 100 });
    const { probeLengths, bytes, ...rest } = await map.stats();
    expect(rest).toEqual({
      live: 0,
      tombstones: 0,
      meanProbeLength: 0,
      maxProbeLength: 0,
      capacity: 100,
      slots: 200,
      loadFactor: 0,
    });
    expect(probeLengths).toBeInstanceOf(Float64Array);
    expect(probeLengths.every((n) => n === 0)).toBe(true);
    expect(bytes).toBeGreaterThanOrEqual(200 * 8);
    expect(bytes).toBeLessThan(200 * 8 + 100);
  });

  it("of tables at several loads", async () => {
    for (const maxLoadFactor of [0.2, 0.5, 0.9, 1]) {
      using set = await StaticSet.create(device(), { key: "u32", capacity: 2000, maxLoadFactor });
      await set.insert(uniqueKeys(2000));
      await expectSoundStats(set);
      const { live, tombstones, loadFactor: now } = await set.stats();
      expect([live, tombstones]).toEqual([2000, 0]);
      expect(now).toBeCloseTo(maxLoadFactor, 2);
    }
  });

  if (onOneTable) placesInOneTable();

  it("counts erased slots until they are taken again", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 100, maxLoadFactor: 1 });
    await set.insert(uniqueKeys(100));
    await set.erase(uniqueKeys(40));
    const erased = await set.stats();
    expect(erased).toMatchObject({ live: 60, loadFactor: 0.6 });
    expect(erased.tombstones).toBeGreaterThan(0);
    expect(erased.tombstones).toBeLessThanOrEqual(40);
    await expectSoundStats(set);
    await set.insert(uniqueKeys(40));
    expect(await set.stats()).toMatchObject({ live: 100, tombstones: 0 });
  });

  it("counts keys that equal sentinels as live, with probe length 1, and never as tombstones", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    await map.insert(sentinelPatterns, counting(3));
    expect(await map.stats()).toMatchObject({
      live: 3,
      tombstones: 0,
      meanProbeLength: 1,
      maxProbeLength: 1,
    });
    await map.erase(Uint32Array.of(0xffffffff, 0xfffffffe));
    expect(await map.stats()).toMatchObject({ live: 1, tombstones: 0 });
    await expectSoundStats(map);
  });

  it("answers a histogram of its own each time", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 10 });
    await set.insert(counting(10));
    (await set.stats()).probeLengths.fill(9);
    await expectSoundStats(set);
  });
});

function placesInOneTable(): void {
  it("has the mean probe length that Knuth's analysis predicts", async () => {
    // A successful search in a linear-probing table of load a takes (1 + 1 / (1 - a)) / 2 probes (TAOCP 3, 6.4).
    for (const [maxLoadFactor, expected] of [
      [0.5, 1.5],
      [0.8, 3],
    ]) {
      using set = await StaticSet.create(device(), { key: "u32", capacity: 50_000, maxLoadFactor });
      await set.insert(uniqueKeys(50_000));
      const { meanProbeLength } = await set.stats();
      expect(Math.abs(meanProbeLength / expected - 1)).toBeLessThan(0.1);
    }
  });

  for (const hash of hashes) {
    for (const place of ["start", "end"]) {
      it(`of one chain: each length once (${hash}, ${place} of the table)`, async () => {
        using set = await StaticSet.create(device(), { key: "u32", capacity: 1000, hash });
        await set.insert(keysWithHome(place === "start" ? 0 : set.slots - 1, set.slots, 100, hash));
        const { probeLengths, meanProbeLength, maxProbeLength } = await set.stats();
        expect(probeLengths.subarray(0, 100).every((n) => n === 1)).toBe(true);
        expect(probeLengths.subarray(100).every((n) => n === 0)).toBe(true);
        expect([meanProbeLength, maxProbeLength]).toEqual([50.5, 100]);
      });
    }
  }

  it("counts entries beyond the histogram in its last element, and their true lengths in mean and maximum", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 1000 });
    await set.insert(keysWithHome(3, set.slots, 600));
    const { probeLengths, meanProbeLength, maxProbeLength, live } = await set.stats();
    const last = probeLengths.length - 1;
    expect(probeLengths.subarray(0, last).every((n) => n === 1)).toBe(true);
    expect(probeLengths[last]).toBe(600 - last);
    expect([live, meanProbeLength, maxProbeLength]).toEqual([600, 300.5, 600]);
  });
}
