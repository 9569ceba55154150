// From which sizes on several GPUs share work: each rule of warpmap-cuda both ways, on the same data, in turns.
// node several-crossovers.mjs [--gpus all|0,1] [--most 26] [--runs 15] [--warm 10] [--only joins] [--out report.json]
// Times are of awaited calls, arrays on the devices, medians. Sizes are up to 2^most rows, keys or slots.
import { parseArgs } from "node:util";
import { openDevice, StaticMap } from "warpmap";
import { registerEngine } from "warpmap/engine";
import { count, distinct, groupBy, join, sum } from "warpmap/relational";
import { cudaEngine } from "warpmap-cuda";
import { columnOf, keyOf, medians, printRows, report } from "./common.mjs";

const { values: options } = parseArgs({
  options: {
    gpus: { type: "string", default: "all" },
    most: { type: "string", default: "26" },
    runs: { type: "string", default: "15" },
    warm: { type: "string", default: "10" },
    only: { type: "string", default: "" },
    out: { type: "string" },
  },
});
const gpus = options.gpus === "all" ? "all" : options.gpus.split(",").map(Number);
const [MOST, RUNS, WARM] = [options.most, options.runs, options.warm].map(Number);
const NEVER = Number.POSITIVE_INFINITY;

/** A device whose rules are as `least` says. */
let least = {};
registerEngine("cuda", { ...cudaEngine, open: (request) => cudaEngine.open({ ...request, least }) });
const openWith = (rules) => {
  least = rules;
  return openDevice({ backend: "cuda", gpus });
};

const grouping = (log2, groups) => async (device) => {
  const size = 2 ** log2;
  const table = await device.uploadTable({
    key: columnOf(Uint32Array, size, (i) => keyOf(i) % groups),
    value: columnOf(Int32Array, size, (i) => i & 255),
  });
  const aggregate = { rows: count(), total: sum("value") };
  const call = async () => {
    const grouped = await groupBy(table, { by: ["key"], aggregate, output: "device" });
    if (grouped.numRows !== groups) throw new Error(`wrong answer: ${grouped.numRows} groups`);
    grouped.destroy();
  };
  return { call, end: () => table.destroy() };
};

/** Rows of a key of which there are sixteen. */
const distinctRows = (log2) => async (device) => {
  const [size, keys] = [2 ** log2, 2 ** (log2 - 4)];
  const table = await device.uploadTable({ key: columnOf(Uint32Array, size, (i) => keyOf(i) % keys) });
  const call = async () => {
    const rows = await distinct(table, { on: ["key"], output: "device" });
    if (rows.numRows !== keys) throw new Error(`wrong answer: ${rows.numRows} rows`);
    rows.destroy();
  };
  return { call, end: () => table.destroy() };
};

const joining = (leftLog2, rightLog2) => async (device) => {
  const [rows, others] = [2 ** leftLog2, 2 ** rightLog2];
  const left = await device.uploadTable({
    id: columnOf(Uint32Array, rows, (i) => keyOf(i % others)),
    a: columnOf(Int32Array, rows, (i) => i),
  });
  const right = await device.uploadTable({
    id: columnOf(Uint32Array, others, keyOf),
    b: columnOf(Int32Array, others, (i) => i),
  });
  const call = async () => {
    const joined = await join(left, right, { on: ["id"], output: "device" });
    if (joined.numRows !== rows) throw new Error(`wrong answer: ${joined.numRows} rows`);
    joined.destroy();
  };
  return { call, end: () => [left, right].forEach((table) => void table.destroy()) };
};

/** Look-ups and inserts of as many keys as a table at load 0.5 has. */
const mapping = (log2) => async (device) => {
  const size = 2 ** (log2 - 1);
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: size });
  const keys = await device.upload(columnOf(Uint32Array, size, keyOf));
  const call = async () => {
    const { inserted, existing } = await map.insert(keys, keys);
    if (inserted + existing !== size) throw new Error("wrong answer: insert");
    const { values, found } = await map.find(keys, { output: "device" });
    for (const array of [values, found]) array.destroy();
  };
  return { call, end: () => [map, keys].forEach((each) => void each.destroy()) };
};

const sizes = (from, to = MOST) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
/** By rule: the rules of both devices, and what they do at each size. */
const RULES = {
  "group-bys: one GPU; all": [
    { rows: NEVER },
    { rows: 1 },
    sizes(18),
    (log2) => grouping(log2, 2 ** (log2 - 7)),
  ],
  "joins: one GPU; all": [{ rows: NEVER }, { rows: 1 }, sizes(18), (log2) => joining(log2 - 1, log2 - 1)],
  "distinct rows: one GPU; all": [{ rows: NEVER }, { rows: 1 }, sizes(20), distinctRows],
  "insert and find, slots: one GPU; all": [{ slots: NEVER }, { slots: 1 }, sizes(20), mapping],
  "groups: rows go to owners; groups do": [
    { rows: 1, ofGroup: NEVER },
    { rows: 1, ofGroup: 0 },
    sizes(MOST - 9, MOST - 1),
    (log2) => grouping(MOST, 2 ** log2),
  ],
  "joins, the shorter side: rows go to owners; it goes to all": [
    { rows: 1, broadcast: 0 },
    { rows: 1, broadcast: NEVER },
    sizes(MOST - 9, MOST - 1),
    (log2) => joining(MOST, log2),
  ],
};

const rows = [];
let info;
for (const [rule, [first, second, at, made]] of Object.entries(RULES)) {
  if (!rule.startsWith(options.only)) continue;
  const devices = [await openWith(first), await openWith(second)];
  [{ info }] = devices;
  for (const log2 of at) {
    const each = [];
    for (const device of devices) each.push(await made(log2)(device));
    const [a, b] = await medians(each, ({ call }) => call(), { runs: RUNS, warm: WARM });
    for (const { end } of each) end();
    rows.push({ rule, size: `2^${log2}`, first: a, second: b, "speed-up": a / b });
  }
  for (const device of devices) device.destroy();
}
console.log(`${info.name}; ms`);
printRows(rows);
report(options.out, "several-crossovers", info, { most: MOST, runs: RUNS, warm: WARM, rows });
process.exit();
