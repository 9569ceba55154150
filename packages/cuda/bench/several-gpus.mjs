// One GPU and several beside each other, on the same data: inserts, finds and erases, joins (one of them of a key that most
// rows have), a group-by, typed arrays.
// node several-gpus.mjs [--gpus all|0,1] [--log2 28] [--runs 5] [--warm 1] [--out report.json] [--large 33] [--round 25]
// Every answer is checked. Times are of awaited calls, arrays on the devices, medians, after as many calls as --warm says.
//
// --large 33 measures in place of that a map of 2^33 slots on the GPUs, an eighth of them filled, with all look-ups checked.
// --round 25 has rounds of 2^25 elements of a GPU, and --round 40 no more than one, so that nothing overlaps: run both.
import { parseArgs } from "node:util";
import { openDevice, StaticMap } from "warpmap";
import { registerEngine } from "warpmap/engine";
import { count, groupBy, join, sum } from "warpmap/relational";
import { columnOf, keyOf, medians, printRows, report } from "./common.mjs";

const { values: options } = parseArgs({
  options: {
    gpus: { type: "string", default: "all" },
    log2: { type: "string", default: "28" },
    runs: { type: "string", default: "5" },
    warm: { type: "string", default: "1" },
    out: { type: "string" },
    large: { type: "string" },
    round: { type: "string" },
  },
});
const gpus = options.gpus === "all" ? "all" : options.gpus.split(",").map(Number);
const N = 2 ** Number(options.log2);
const [RUNS, WARM] = [options.runs, options.warm].map(Number);
const sameOf = (i) => i;

const median = async (work) => (await medians([null], work, { runs: RUNS, warm: WARM }))[0];

function check(isRight, what) {
  if (!isRight) throw new Error(`wrong answer: ${what}`);
}

/** @returns by operation the times of each device */
async function measureMaps(devices, size, runs = RUNS) {
  const keys = columnOf(Uint32Array, size, keyOf);
  const values = columnOf(Uint32Array, size, sameOf);
  const newMap = (device) => StaticMap.create(device, { key: "u32", value: "u32", capacity: size });
  const rows = {};
  const each = [];
  for (const device of devices)
    each.push({ map: await newMap(device), k: await device.upload(keys), v: await device.upload(values) });
  const timed = (work, before) => medians(each, work, { runs, warm: WARM, before });
  rows.insert = await timed(
    ({ map, k, v }) => map.insert(k, v),
    ({ map }) => map.clear(),
  );
  for (const { map } of each) check(map.size === size, "insert");
  rows.find = await timed(async ({ map, k }) => {
    const { values, found } = await map.find(k, { output: "device" });
    for (const array of [values, found]) array.destroy();
  });
  for (const { map, k } of each) {
    const { values: answers, found } = await map.find(k, { output: "device" });
    const [some, flags] = [await answers.read(), await found.read()];
    check(flags.every((flag) => flag === 1) && some.every((value, i) => value === i), "find");
    for (const array of [answers, found]) array.destroy();
  }
  rows.erase = await timed(
    async ({ map, k }) => check((await map.erase(k)).erased === size, "erase"),
    async ({ map, k, v }) => void (await map.insert(k, v)),
  );
  for (const { map, k, v } of each.splice(0)) {
    await map[Symbol.asyncDispose]();
    for (const array of [k, v]) array.destroy();
  }
  for (const device of devices) {
    const up = await device.pinned("u32", size, "upload");
    up.array.set(keys);
    const down = [];
    for (const type of ["u32", "u32", "u8"]) down.push(await device.pinned(type, size, "readback"));
    each.push({ map: await newMap(device), up, down });
  }
  rows["insert, pinned"] = await timed(
    ({ map, up }) => map.insert(up, up),
    ({ map }) => map.clear(),
  );
  rows["find, pinned"] = await timed(({ map, up, down: [values, , found] }) =>
    map.find(up, { into: { values, found } }),
  );
  for (const { down } of each) {
    check(
      down[0].array.every((value, i) => value === keys[i]),
      "find, pinned",
    );
  }
  rows["retrieveAll, pinned"] = await timed(({ map, down: [keys, values] }) =>
    map.retrieveAll({ into: { keys, values } }),
  );
  for (const { map, up, down } of each) {
    const isSame = down[0].array.every((key, i) => key === down[1].array[i]);
    check(
      isSame && new Set(down[0].array.subarray(0, 2 ** 20)).size === Math.min(size, 2 ** 20),
      "retrieveAll",
    );
    await map[Symbol.asyncDispose]();
    for (const array of [up, ...down]) array.destroy();
  }
  return rows;
}

/** A map of very many slots: keys come in batches of 2^27, so that the host holds no more. */
async function measureLarge(log2) {
  const device = await openDevice({ backend: "cuda", gpus });
  const [slots, batch] = [2 ** log2, Math.min(2 ** 27, 2 ** (log2 - 4))];
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: slots / 2 });
  const size = slots / 8;
  const ms = { insert: 0, find: 0, "find, absent keys": 0 };
  const timed = async (name, work) => {
    const start = performance.now();
    const answer = await work();
    ms[name] += performance.now() - start;
    return answer;
  };
  const keysFrom = (first) => columnOf(Uint32Array, batch, (i) => keyOf(first + i));
  for (let first = 0; first < size; first += batch) {
    const [k, v] = [
      await device.upload(keysFrom(first)),
      await device.upload(keysFrom(first).map((key) => ~key)),
    ];
    await timed("insert", () => map.insert(k, v));
    for (const array of [k, v]) array.destroy();
  }
  check(map.size === size && map.slots === slots, "insert into a large map");
  for (let first = 0; first < 2 * size; first += batch) {
    const keys = keysFrom(first);
    const k = await device.upload(keys);
    const isThere = first < size;
    const answer = await timed(isThere ? "find" : "find, absent keys", () =>
      map.find(k, { output: "device" }),
    );
    const [values, found] = [await answer.values.read(), await answer.found.read()];
    const expected = (i) => (isThere ? ~keys[i] >>> 0 : 0);
    check(
      found.every((flag) => flag === Number(isThere)) && values.every((value, i) => value === expected(i)),
      "find in a large map",
    );
    for (const array of [k, answer.values, answer.found]) array.destroy();
  }
  console.log(
    `${device.info.name}: ${slots} slots, ${size} keys, as many look-ups of each kind, all checked; ms in all`,
  );
  console.table(ms);
  const rows = Object.entries(ms).map(([operation, several]) => ({ operation, several }));
  report(options.out, "several-gpus", device.info, { slots, keys: size, rows });
  await map[Symbol.asyncDispose]();
  device.destroy();
}

async function measureTables(device, size) {
  const half = size / 2;
  const ids = columnOf(Uint32Array, half, keyOf);
  const left = await device.uploadTable({ id: ids, a: columnOf(Int32Array, half, sameOf) });
  const right = await device.uploadTable({
    id: ids.slice().reverse(),
    b: columnOf(Int32Array, half, sameOf),
  });
  const rows = {};
  rows[`join ${half} x ${half}`] = await median(async () => {
    const joined = await join(left, right, { on: ["id"], output: "device" });
    check(joined.numRows === half, "join");
    joined.destroy();
  });
  for (const table of [left, right]) table.destroy();
  const hot = columnOf(Uint32Array, half, (i) => (i % 4 === 0 ? keyOf(i) : 5));
  const many = await device.uploadTable({ id: hot, a: columnOf(Int32Array, half, sameOf) });
  // a row for the key that most rows have, and rows for a part of the others
  const some = columnOf(Uint32Array, half / 2, (i) => (i === 0 ? 5 : keyOf(4 * i)));
  const few = await device.uploadTable({ id: some, b: columnOf(Int32Array, half / 2, sameOf) });
  const joinedRows = (half / 4) * 3 + (half / 4 - 1);
  rows[`join ${half} x ${half / 2}, three quarters of one key`] = await median(async () => {
    const joined = await join(many, few, { on: ["id"], output: "device" });
    check(joined.numRows === joinedRows, "join of a hot key");
    joined.destroy();
  });
  for (const table of [many, few]) table.destroy();
  const groups = Math.min(2 ** 20, size / 4);
  const table = await device.uploadTable({
    key: columnOf(Uint32Array, size, (i) => keyOf(i) % groups),
    value: columnOf(Int32Array, size, (i) => i & 255),
  });
  rows[`group ${size} rows, ${groups} groups`] = await median(async () => {
    const aggregate = { rows: count(), total: sum("value") };
    const grouped = await groupBy(table, { by: ["key"], aggregate, output: "device" });
    check(grouped.numRows === groups, "group");
    grouped.destroy();
  });
  table.destroy();
  return rows;
}

if (options.round) {
  const { cudaEngine } = await import("warpmap-cuda");
  const least = { round: 2 ** Number(options.round) };
  registerEngine("cuda", { ...cudaEngine, open: (request) => cudaEngine.open({ ...request, least }) });
}
if (options.large) {
  await measureLarge(Number(options.large));
  process.exit();
}
const devices = { one: { backend: "cuda", gpu: 0 }, several: { backend: "cuda", gpus } };
const results = {};
for (const [which, asked] of Object.entries(devices)) {
  const device = await openDevice(asked);
  const ms = {};
  for (const [row, [took]] of Object.entries(await measureMaps([device], N))) ms[row] = took;
  Object.assign(ms, await measureTables(device, N));
  results[which] = { info: device.info, ms };
  console.error(which, ms);
  device.destroy();
}
// what is this short differs more between processes than between devices: they take turns
const both = [];
for (const asked of Object.values(devices)) both.push(await openDevice(asked));
const small = await measureMaps(both, 2 ** 16, 20 * RUNS);
for (const device of both) device.destroy();
const rowOf = (operation, one, several) => ({ operation, one, several, "speed-up": one / several });
const rows = [
  ...Object.entries(results.one.ms).map(([row, took]) => rowOf(row, took, results.several.ms[row])),
  ...Object.entries(small).map(([row, took]) => rowOf(`2^16 keys: ${row}`, ...took)),
];
console.log(`${results.one.info.name}, and ${results.several.info.name}; ${N} keys; ms`);
printRows(rows);
report(options.out, "several-gpus", results.several.info, { keys: N, runs: RUNS, warm: WARM, rows });
