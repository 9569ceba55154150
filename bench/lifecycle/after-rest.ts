/** Part (c) of lifecycle: finds in a map that stays, call after call, and after the device had nothing to do for some seconds. */
import { type Device, StaticMap } from "../../src/index.js";
import { type BenchOptions, type BenchRow, byDevice, engineName } from "../report.js";
import { checkFound, MISSING } from "../static-map-check.js";
import type { DeviceWorkload } from "../static-map-workload.js";
import { median, rest } from "../timing.js";

const RESTS_S = [1, 3, 10];
/** Finds after each rest, of which these are told. */
const TOLD = [1, 2, 10];
const WARM_UP_MS = { gpu: 1000, cpu: 100, software: 0 };

/** Each rest once; the warm loop is the median of as many finds. */
export async function findsAfterRest(
  device: Device,
  columns: DeviceWorkload,
  { signal, onProgress }: BenchOptions,
): Promise<BenchRow[]> {
  const { size } = columns.workload;
  await using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: size });
  await map.insert(await columns.keys(), await columns.values());
  const lookups = await columns.lookups();
  const find = async (check = false) => {
    const start = performance.now();
    const answer = await map.find(lookups, { output: "device", missing: MISSING });
    const ms = performance.now() - start;
    if (check) await checkFound(columns, "lookups", "all", answer);
    answer.values.destroy();
    answer.found.destroy();
    return ms;
  };
  const finds = async () => {
    const times: number[] = [];
    while (times.length < Math.max(...TOLD)) times.push(await find());
    return times;
  };
  const warmUp = async () => {
    const start = performance.now();
    do await find();
    while (performance.now() - start < byDevice(device, WARM_UP_MS));
  };

  await find(true);
  await warmUp();
  const on = engineName(device);
  const rows: BenchRow[] = [{ state: "warm loop", on, size, "find ms": median(await finds()) }];
  for (const seconds of RESTS_S) {
    signal?.throwIfAborted();
    onProgress?.(`find after ${seconds} s of rest`);
    await warmUp();
    await rest(seconds, signal);
    const times = await finds();
    for (const call of TOLD) {
      rows.push({
        state: "after rest",
        on,
        size,
        "rest s": seconds,
        "find number": call,
        "find ms": times[call - 1],
      });
    }
  }
  return rows;
}
