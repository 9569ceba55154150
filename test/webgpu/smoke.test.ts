import { expect, it } from "vitest";
import { openDevice, StaticMap } from "../../src/index.js";

it("smoke", async () => {
  const device = await openDevice({ backend: "webgpu", software: true });
  console.log(device.info);
  const n = 1 << 18;
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: n });
  const keys = Uint32Array.from({ length: n }, (_, i) => Math.imul(i, 2654435761));
  const values = keys.map((k) => ~k);
  for (let r = 0; r < 3; r++) {
    await map.clear();
    let t = performance.now();
    console.log(await map.insert(keys, values), performance.now() - t);
    t = performance.now();
    const { values: v, found } = await map.find(keys);
    console.log("find", performance.now() - t);
    expect(found.every((f) => f === 1)).toBe(true);
    expect(Buffer.compare(Buffer.from(v.buffer), Buffer.from(values.buffer))).toBe(0);
  }
  expect(map.size).toBe(n);
  const all = await map.retrieveAll();
  {
    const a = all.keys.slice().sort(),
      b = keys.slice().sort();
    expect(a.every((x, i) => x === b[i])).toBe(true);
  }
  const t = performance.now();
  expect(await map.erase(keys.subarray(0, 1000))).toEqual({ erased: 1000 });
  console.log("erase", performance.now() - t);
  console.log(await map.stats());
  console.log(await map.insertOrAssign(keys, values));
  console.log(await map.insertOrApply(keys, values, "add"));
  {
    const w = (await map.find(keys)).values;
    expect(w.every((x, i) => x === (values[i] * 2) % 2 ** 32)).toBe(true);
  }
  console.log(await map.insertAndFind(keys.subarray(0, 10), values.subarray(10, 20)));
  await map.rehash();
  console.log(await map.contains(keys.subarray(0, 5)));
  console.log((await map.stats()).tombstones);
  device.destroy();
});
