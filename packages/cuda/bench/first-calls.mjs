// First calls of a process, each kind in processes of its own, after a map's: node first-calls.mjs [report.json]
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DynamicMap, openDevice, StaticMap, StaticMultimap, StaticSet } from "warpmap";
import { count, countDistinct, distinct, groupBy, join, mean, min, sum } from "warpmap/relational";
import { BloomFilter, HyperLogLog } from "warpmap/sketches";

const PROCESSES = 5;
const counting = (length) => Uint32Array.from({ length }, (_, i) => i);
const texts = (length) => Array.from({ length }, (_, i) => `name ${i % 50}`);

/** What is called, of 1,000 rows unless it says otherwise, in memory of the host or (`isThere`) of the GPU. */
const KINDS = {
  set: {
    call: (device, { ids }) =>
      use(StaticSet.create(device, { key: "u32", capacity: 1000 }), (set) => set.insert(ids)),
  },
  "u64 map": {
    call: (device, { ids }) =>
      use(StaticMap.create(device, { key: "u64", value: "u32", capacity: 1000 }), (map) =>
        map.insert(BigUint64Array.from(ids, BigInt), ids),
      ),
  },
  "utf8 map": {
    call: (device, { ids, names }) =>
      use(StaticMap.create(device, { key: "utf8", value: "u32", capacity: 1000 }), (map) =>
        map.insertOrAssign(names, ids),
      ),
  },
  multimap: {
    call: (device, { ids }) =>
      use(StaticMultimap.create(device, { key: "u32", value: "u32", capacity: 1000 }), async (map) => {
        await map.insert(ids, ids);
        await map.retrieve(ids);
      }),
  },
  "dynamic map": {
    call: (device, { ids }) =>
      use(DynamicMap.create(device, { key: "u32", value: "u32" }), (map) => map.insert(ids, ids)),
  },
  "Bloom filter": {
    call: (device, { ids }) =>
      use(BloomFilter.create(device, { key: "u32", capacity: 1000 }), (filter) => filter.add(ids)),
  },
  HyperLogLog: {
    call: (device, { ids }) =>
      use(HyperLogLog.create(device, { key: "u32" }), async (sketch) => {
        await sketch.add(ids);
        await sketch.estimate();
      }),
  },
  join: { call: (device, { left, right }) => join(left, right, { on: ["id"], device }) },
  "join on strings": { call: (device, { left, right }) => join(left, right, { on: ["name"], device }) },
  "semi join": { call: (device, { left, right }) => join(left, right, { on: ["id"], how: "semi", device }) },
  "group-by": {
    call: (device, { left }) =>
      groupBy(left, { by: ["id"], aggregate: { rows: count(), sum: sum("x") }, device }),
  },
  "group-by strings": {
    call: (device, { left }) =>
      groupBy(left, { by: ["name"], aggregate: { rows: count(), mean: mean("x") }, device }),
  },
  "group-by, min of strings, countDistinct": {
    call: (device, { left }) =>
      groupBy(left, { by: ["x"], aggregate: { min: min("name"), ids: countDistinct("id") }, device }),
  },
  distinct: { call: (device, { left }) => distinct(left, { on: ["name"], device }) },
  "join, 2^20 rows": {
    rows: 2 ** 20,
    call: (device, { left, right }) => join(left, right, { on: ["id"], device }),
  },
  "group-by, 2^20 rows": {
    rows: 2 ** 20,
    call: (device, { left }) =>
      groupBy(left, { by: ["x"], aggregate: { rows: count(), sum: sum("id") }, device }),
  },
  "join on the device, 2^20 rows": {
    rows: 2 ** 20,
    isThere: true,
    call: async (device, { left, right }) =>
      (await join(left, right, { on: ["id"], device, output: "device" })).destroy(),
  },
  "group-by on the device, 2^20 rows": {
    rows: 2 ** 20,
    isThere: true,
    call: async (device, { left }) =>
      (
        await groupBy(left, {
          by: ["x"],
          aggregate: { rows: count(), sum: sum("id") },
          device,
          output: "device",
        })
      ).destroy(),
  },
};

async function use(created, call) {
  const container = await created;
  await call(container);
  container.destroy();
}

const kind = process.argv[2];
if (kind in KINDS) await once(KINDS[kind]);
else await all(kind);

/** One process: a map's first calls, and those of a kind. */
async function once({ call, rows = 1000, isThere = false }) {
  const device = await openDevice({ backend: "cuda" });
  const [ids, names] = [counting(rows), rows === 1000 ? texts(rows) : []];
  const x = ids.map((id) => id % 1000);
  const byName = names.length > 0 && { name: names };
  const tables = { left: { id: ids, x, ...byName }, right: { id: ids, y: x, ...byName } };
  const start = performance.now();
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 2 ** 20 });
  await map.insert(counting(2 ** 20), counting(2 ** 20));
  await map.find(counting(2 ** 20));
  map.destroy();
  const inputs = isThere
    ? { left: await device.uploadTable(tables.left), right: await device.uploadTable(tables.right) }
    : tables;
  const times = [start, performance.now()];
  for (let i = 0; i < 2; i++) {
    await call(device, { ids, names, ...inputs });
    times.push(performance.now());
  }
  const [map20, first, second] = times.slice(1).map((time, i) => time - times[i]);
  console.log(JSON.stringify({ map: map20, first, second, info: device.info }));
  device.destroy();
}

async function all(report) {
  const rows = [];
  let info;
  for (const name of Object.keys(KINDS)) {
    const runs = Array.from({ length: PROCESSES }, () =>
      JSON.parse(
        execFileSync(process.execPath, [fileURLToPath(import.meta.url), name], { encoding: "utf8" }),
      ),
    );
    info = runs[0].info;
    const of = (key) => runs.map((run) => Number(run[key].toFixed(1))).sort((a, b) => a - b);
    const [first, second] = [of("first"), of("second")];
    rows.push({
      kind: name,
      "first ms": first[2],
      "fastest and slowest": [first[0], first[4]],
      "second ms": second[2],
    });
    console.log(name.padEnd(40), first.join(" "), "| second", second[2]);
  }
  const { name, hardware } = info;
  const head = {
    bench: "first calls of a process, after a map's",
    node: process.version,
    device: name,
    driver: hardware.driver,
  };
  if (report) writeFileSync(report, `${JSON.stringify({ ...head, rows }, null, 2)}\n`);
}
