import { it } from "vitest";
import { StaticMap } from "../../src/index.js";
import { OVER_ONE_DISPATCH, useDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";
const device = useDevice();
for (const count of [1<<20, 1<<22, OVER_ONE_DISPATCH]) for (const loadFactor of [0.5, 0.8]) it("time"+count+" "+loadFactor, async () => {
  using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: count, loadFactor });
  const [keys, values] = [uniqueKeys(count), counting(count)];
  const t = async (name: string, f: () => Promise<unknown>) => { const s = performance.now(); await f(); console.log(name, count, loadFactor, Math.round(performance.now() - s)); };
  await t("insert", () => map.insert(keys, values));
  await t("find", () => map.find(keys));
  await t("contains", () => map.contains(keys));
  await t("retrieveAll", () => map.retrieveAll());
  await t("erase", () => map.erase(keys));
}, 300000);
