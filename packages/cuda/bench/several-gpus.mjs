// One GPU and several beside each other, on the same data: inserts, finds and erases, joins (one of them of a key that most
// rows have), a group-by, typed arrays.
// node several-gpus.mjs [--gpus all|0,1] [--log2 28] [--runs 5] [--warm 1] [--out report.json] [--large 33] [--round 25]
// Every answer is checked. Times are of awaited calls, arrays on the devices, medians, after as many calls as --warm says.
//
// --large 33 measures in place of that a map of 2^33 slots on the GPUs, an eighth of them filled, with all look-ups checked.
// --round 25 has rounds of 2^25 elements of a GPU, and --round 40 no more than one, so that nothing overlaps: run both.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openDevice, StaticMap } from "warpmap";
import { registerEngine } from "warpmap/engine";
import { count, groupBy, join, sum } from "warpmap/relational";

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
/** An odd factor: different keys, spread over all of 32 bits. */
const keyOf = (i) => Math.imul(i, 0x9e3779b1) >>> 0;
/** A column by the numbers of its rows. */
function columnOf(Elements, length, elementAt) {
  const column = new Elements(length);
  for (let i = 0; i < length; i++) column[i] = elementAt(i);
  return column;
}
const sameOf = (i) => i;

async function median(work, before = async () => {}) {
  const times = [];
  for (let run = -WARM; run < RUNS; run++) {
    await before();
    const start = performance.now();
    await work();
    if (run >= 0) times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(RUNS / 2)];
}

function check(isRight, what) {
  if (!isRight) throw new Error(`wrong answer: ${what}`);
}

async function measureMap(device, size) {
  const keys = columnOf(Uint32Array, size, keyOf);
  const values = columnOf(Uint32Array, size, sameOf);
  const [k, v] = [await device.upload(keys), await device.upload(values)];
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: size });
  const rows = {};
  rows.insert = await median(
    () => map.insert(k, v),
    () => map.clear(),
  );
  check(map.size === size, "insert");
  rows.find = await median(async () => {
    const { values, found } = await map.find(k, { output: "device" });
    for (const array of [values, found]) array.destroy();
  });
  const { values: answers, found } = await map.find(k, { output: "device" });
  const [some, flags] = [await answers.read(), await found.read()];
  check(flags.every((flag) => flag === 1) && some.every((value, i) => value === i), "find");
  for (const array of [answers, found]) array.destroy();
  rows.erase = await median(
    async () => check((await map.erase(k)).erased === size, "erase"),
    async () => void (await map.insert(k, v)),
  );
  await map[Symbol.asyncDispose]();
  for (const array of [k, v]) array.destroy();
  const [up, down] = [
    await device.pinned("u32", size, "upload"),
    await device.pinned("u32", size, "readback"),
  ];
  up.array.set(keys);
  const flat = await StaticMap.create(device, { key: "u32", value: "u32", capacity: size });
  rows["insert, pinned"] = await median(
    () => flat.insert(up, up),
    () => flat.clear(),
  );
  const into = { values: down, found: await device.pinned("u8", size, "readback") };
  rows["find, pinned"] = await median(() => flat.find(up, { into }));
  check(
    down.array.every((value, i) => value === keys[i]),
    "find, pinned",
  );
  await flat[Symbol.asyncDispose]();
  for (const array of [up, down, into.found]) array.destroy();
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
  report(device.info, { slots, keys: size, rows });
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
  const parts = [
    ["", () => measureMap(device, N)],
    ["2^16 keys: ", () => measureMap(device, 2 ** 16)],
    ["", () => measureTables(device, N)],
  ];
  for (const [prefix, measure] of parts) {
    for (const [row, took] of Object.entries(await measure())) {
      ms[prefix + row] = took;
      console.error(`${which}: ${prefix}${row}: ${took.toFixed(3)} ms`);
    }
  }
  results[which] = { info: device.info, ms };
  device.destroy();
}
const rows = Object.keys(results.one.ms).map((operation) => {
  const [one, several] = [results.one.ms[operation], results.several.ms[operation]];
  return { operation, one, several, "speed-up": one / several };
});
console.log(`${results.one.info.name}, and ${results.several.info.name}; ${N} keys; ms`);
console.table(
  rows.map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, v.toFixed?.(3) ?? v]))),
);
report(results.several.info, { keys: N, runs: RUNS, warm: WARM, rows });

/** Writes what was measured, in ms, where `--out` asks for it. */
function report({ name, hardware }, measured) {
  if (!options.out) return;
  const commit =
    process.env.WARPMAP_COMMIT ?? execFileSync("git", ["rev-parse", "--short=12", "HEAD"]).toString().trim();
  const { driver } = hardware;
  const text = JSON.stringify({ bench: "several-gpus", gpus: name, driver, commit, ...measured }, null, 2);
  writeFileSync(options.out, `${text}\n`);
}
