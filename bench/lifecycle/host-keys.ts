/** Part (d) of lifecycle: one find and one insert of 1 to 2^20 keys in host memory, in turn on the device, the cpu engine and a JS Map. */
import { type Device, EngineError } from "../../src/index.js";
import { checkFinds, type HostMap, openHostMaps, timeFinds } from "../host-maps.js";
import type { BenchOptions, BenchRow } from "../report.js";
import { Workload } from "../static-map-workload.js";
import { type Repeats, timeInTurn } from "../timing.js";

const MOST_KEYS = 2 ** 20;
const LEAST_RUNS = 15;

/** @param size entries of the maps that are asked, and room of those that are filled. */
export async function hostKeyRows(device: Device, size: number, options: BenchOptions): Promise<BenchRow[]> {
  const { runs = LEAST_RUNS, signal, onProgress } = options;
  const repeats = { runs, leastTotalMs: runs < LEAST_RUNS ? 0 : 60, warmUpMs: runs < LEAST_RUNS ? 0 : 20 };
  const workload = new Workload(size);
  await using full = await openHostMaps(device, size);
  for (const map of full.maps) await map.insert(workload.keys(), workload.values());
  await using empty = await openHostMaps(device, size);
  const rows: BenchRow[] = [];
  for (let keys = 1; keys <= Math.min(MOST_KEYS, size); keys *= 4) {
    signal?.throwIfAborted();
    onProgress?.(`find and insert of ${keys} host keys`);
    const finds = await timeFinds("lifecycle", full.maps, workload, keys, repeats);
    const inserts = await timeInserts(empty.maps, workload, keys, repeats);
    rows.push(
      ...full.maps.map(({ name }, i) => ({
        state: "warm loop",
        on: name,
        size,
        keys,
        "insert ms": inserts[i],
        "find ms": finds[i].median,
      })),
    );
  }
  return rows;
}

/** Inserts into empty maps; afterwards each map is asked for what was inserted. */
async function timeInserts(
  maps: readonly HostMap[],
  workload: Workload,
  count: number,
  repeats: Repeats,
): Promise<number[]> {
  const [keys, values] = [workload.column("keys", 0, count), workload.values(0, count)];
  const timings = await timeInTurn(
    maps.map((map) => ({
      before: () => map.clear(),
      call: () => map.insert(keys, values),
      after: (counts: { inserted: number } | undefined) => {
        if (counts === undefined || counts.inserted === count) return;
        throw new EngineError(`lifecycle: ${map.name} inserted ${counts.inserted} of ${count} keys.`);
      },
    })),
    repeats,
  );
  await checkFinds("lifecycle", maps, { keys, values });
  return timings.map(({ median }) => median);
}
