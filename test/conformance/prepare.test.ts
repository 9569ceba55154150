/** device.prepare: calls that were made ready for answer as others do; wrong descriptions are refused. */
import { expect, it } from "vitest";
import { StaticMap, StaticSet, type TableToPrepare, ValidationError } from "../../src/index.js";
import { rejection } from "./helpers/checks.js";
import { onWebgpu, openTestDevice, useDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();

it("makes ready for calls on maps and sets", async () => {
  using own = await openTestDevice(onWebgpu ? {} : { threads: 2 });
  const capacity = 2000;
  const calls = ["insert", "insertAndFind", "find", "contains", "erase"] as const;
  expect(
    await own.prepare([
      { key: "u32", value: "u32", capacity, calls: [...calls, "insertOrAssign"] },
      { key: "u32", capacity, maxLoadFactor: 0.9, calls },
      { key: "u64", value: "u32", capacity },
      { key: "u64", value: "f64", capacity, calls: ["insertAndFind", "insertOrAssign"] },
    ]),
  ).toBe(undefined);
  const keys = uniqueKeys(capacity);
  using map = await StaticMap.create(own, { key: "u32", value: "u32", capacity });
  expect(await map.insert(keys, counting(capacity))).toEqual({ inserted: capacity, existing: 0 });
  expect((await map.find(keys)).values).toEqual(counting(capacity));
  using set = await StaticSet.create(own, { key: "u32", capacity, maxLoadFactor: 0.9 });
  expect(await set.insert(keys)).toEqual({ inserted: capacity, existing: 0 });
  expect(await set.erase(keys)).toEqual({ erased: capacity });
});

it.each([
  [{}, /tables is an Object/],
  [[{ key: "u32", value: "u32" }], /capacity is undefined/],
  [[{ key: "u33", capacity: 1 }], /no key type "u33"/],
  [[{ key: "u32", capacity: 1, cals: [] }], /no option "cals" here\. Did you mean "calls"\?/],
  [[{ key: "u32", capacity: 1, calls: "find" }], /calls is "find"/],
  [[{ key: "u32", capacity: 1, calls: ["look"] }], /no call "look"/],
  [[{ key: "u32", capacity: 1, calls: ["insertOrAssign"] }], /no call "insertOrAssign"/],
])("refuses %j", async (tables, message) => {
  const call = device().prepare(tables as TableToPrepare[]);
  expect((await rejection(call, ValidationError)).message).toMatch(message);
});
