/**
 * Small calls on an engine that answers nothing of use. A process's first map, join and group-by take tens of
 * milliseconds, most of which JavaScript spends on compiling what they run: an engine that waits for its GPU to open
 * has it compiled by then.
 */
import { StaticMap } from "../containers/static-map.js";
import { StaticMultimap } from "../containers/static-multimap.js";
import { Device } from "../device.js";
import type { Engine } from "../engine/engine.js";
import { nextTask } from "../host/next-task.js";
import { count, countDistinct, mean, min, sum } from "./aggregates.js";
import { distinct } from "./group/distinct.js";
import { groupBy } from "./group/group-by.js";
import { join } from "./join/join.js";

/**
 * Makes the calls, one after the other, until `signal`, and destroys the engine. All that it reads back is 0: joins find
 * no pairs, but a left join's rows are gathered all the same.
 */
export async function warmUp(engine: Engine, signal: AbortSignal): Promise<void> {
  const device = new Device(engine, "");
  const keys = Uint32Array.of(0, 1);
  const names = ["a", "b"];
  const table = { id: keys, x: Float64Array.of(0, 1), name: names };
  const capacity = keys.length;
  const calls = [
    async () => {
      const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity });
      await map.insert(keys, keys);
      await map.find(keys);
      map.destroy();
    },
    () => join(table, table, { on: ["id"], how: "left", device }),
    () => join(table, table, { on: ["id"], device }),
    () => groupBy(table, { by: ["id"], aggregate: { rows: count(), sum: sum("id") }, device }),
    () => groupBy(table, { by: ["name"], aggregate: { mean: mean("x") }, device }),
    () => join(table, table, { on: ["name"], how: "semi", device }),
    () => distinct(table, { on: ["name"], device }),
    async () => {
      const map = await StaticMultimap.create(device, { key: "u32", value: "u32", capacity });
      await map.retrieve(keys);
      // finds no room
      await map.insert(keys, keys);
    },
    async () => {
      const map = await StaticMap.create(device, { key: "utf8", value: "u32", capacity });
      await map.insert(names, keys);
      await map.find(names);
      map.destroy();
    },
    () => groupBy(table, { by: ["id"], aggregate: { min: min("name"), ids: countDistinct("x") }, device }),
  ];
  try {
    for (const call of calls) {
      await nextTask();
      if (signal.aborted) break;
      // what fails was compiled as far as it came
      await Promise.resolve(call()).catch(() => {});
    }
  } finally {
    device.destroy();
  }
}
