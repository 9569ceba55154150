import { pathToFileURL } from "node:url";
const at = (p) => import(pathToFileURL(`${process.cwd()}/${p}`));
const { openDevice } = await at("dist/index.js");
const R = await at("dist/relational/index.js");
const { readTable, tableToBytes, readBatches } = await at("dist/io/index.js");
const device = await openDevice({ backend: "cpu", threads: 1 });
const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "length", "at", "then"];
const show = (t) => JSON.stringify(t.names.map((n) => [n, ...Array.from({ length: t.numRows }, (_, i) => t.getChild(n).at(i))]), (_, v) => typeof v === "bigint" ? Number(v) : v);
const line = async (name, f) => { let got; try { got = await f(); } catch (e) { got = `${e.code ?? `raw ${e.name}`}: ${e.message.slice(0, 120)}`; } console.log(name.padEnd(30), got); };
for (const n of names) {
  const t = { k: [1, 2, 2], [n]: [5, 6, 6] };
  console.log("##", n);
  await line("distinct", async () => show(await R.distinct(t, { device })));
  await line("distinct on k", async () => show(await R.distinct(t, { on: ["k"], device })));
  await line("distinct batches", async () => show(await R.distinct([t, t].values?.() && (async function* () { yield t; yield t; })(), { on: ["k"], device })));
  await line("distinct memory", async () => show(await R.distinct(t, { device, on: ["k"], memory: { limit: 2 ** 20 } })));
  await line("dropDuplicates", async () => show(await R.dropDuplicates(t, { on: ["k"], keep: "last", device })));
  await line("by", async () => show(await R.groupBy(t, { by: [n], aggregate: { rows: R.count(), s: R.sum("k") }, device })));
  await line("aggregate named", async () => show(await R.groupBy(t, { by: ["k"], aggregate: { [n]: R.sum(n), other: R.median(n) }, device })));
  await line("aggregate memory", async () => show(await R.groupBy(t, { by: ["k"], aggregate: { [n]: R.sum(n) }, device, memory: { limit: 2 ** 20 } })));
  await line("valueCounts", async () => show(await R.valueCounts(t, n, { device, as: "c" })));
  await line("valueCounts as", async () => show(await R.valueCounts(t, "k", { device, as: n })));
  const u = { k: [1, 2], [n]: [5, 7] };
  await line("join", async () => show(await R.join(t, u, { on: ["k"], device })));
  await line("join on", async () => show(await R.join(t, u, { on: [n], device })));
  await line("join select", async () => show(await R.join(t, { k: [1, 2], y: [5, 7] }, { on: ["k"], select: [n], device })));
  await line("join where", async () => show(await R.join(t, { k: [1, 2], y: [5, 7] }, { on: ["k"], device, where: { columns: [n, "y"], test: (r) => r[n] === r.y } })));
  await line("join memory", async () => show(await R.join(t, { k: [1, 2], y: [5, 7] }, { on: ["k"], device, memory: { limit: 2 ** 20 }, where: { columns: [n, "y"], test: (r) => r[n] === r.y } })));
  await line("row objects", async () => show(await R.join([JSON.parse(`{"k":1,"${n}":5}`)], { k: [1, 2], y: [5, 7] }, { on: ["k"], device })));
  for (const format of ["csv", "arrow", "parquet"]) {
    await line(format, async () => show(await readTable(await tableToBytes(t, { format }), { format })));
    await line(`${format} columns`, async () => show(await readTable(await tableToBytes(t, { format }), { format, columns: [n] })));
  }
  await line("csv types", async () => (await readTable(await tableToBytes(t, { format: "csv" }), { format: "csv", types: { [n]: "utf8" } })).getChild(n).at(0) === "5");
  await line("csv no types", async () => (await readTable(await tableToBytes(t, { format: "csv" }), { format: "csv", types: { k: "utf8" } })).getChild(n).at(0) === 5);
  await line("toArray", async () => JSON.stringify((await R.distinct(t, { device })).toArray()[0]));
  await line("device", async () => show(await (await R.join(await device.uploadTable(t), await device.uploadTable({ k: [1, 2], y: [5, 7] }), { on: ["k"], output: "device", device })).toArrow()));
}
device.destroy();
