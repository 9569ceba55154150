const now = process.env.CPU ? () => { const c = process.cpuUsage(); return (c.user + c.system) / 1000; } : () => performance.now();
import { openDevice } from "warpmap"; import { groupBy, count, sum, mean, distinct, min, max, countDistinct, median } from "warpmap/relational"; import { tableFromArrays } from "@uwdata/flechette"; import { DuckDBInstance } from "@duckdb/node-api";
const mix = (x) => { x ^= x >>> 16; x = Math.imul(x, 0x7feb352d); x ^= x >>> 15; x = Math.imul(x, 0x846ca68b); return (x ^ (x >>> 16)) >>> 0; };
const N = 2 ** Number(process.argv[2] ?? 23); const only = process.argv[4]; const reps = Number(process.argv[5] ?? 5);
const v = new Uint32Array(N); const g = new Int32Array(N), h = new Int32Array(N), f = new Float64Array(N), u = new Float64Array(N), d = new Int32Array(N), str = []; for (let i = 0; i < N; i++) { v[i] = i; g[i] = mix(i ^ 77) % 1000; h[i] = mix(i ^ 99) % (N >> 3); f[i] = (mix(i) % 100000) / 16; u[i] = mix(i) / 7e9; d[i] = 19000 + mix(i ^ 3) % 365; }
const words = Array.from({ length: 5000 }, (_, i) => "city-" + mix(i).toString(36)); for (let i = 0; i < N; i++) str.push(words[mix(i ^ 5) % 5000]);
const G = tableFromArrays({ g, h, f, v, u, d }), S = tableFromArrays({ s: str, f, d });
const best = async (fn, r = reps) => { let b = 1e9, st; for (let i = 0; i < r; i++) { const stages = []; let last = now(); const t = now(); await fn((s) => { const n = now(); stages.push(`${s?.name ?? s?.stage ?? s} ${(n - last).toFixed(0)}`); last = n; }); const ms = now() - t; if (ms < b) { b = ms; st = stages; } } return [b, st]; };
const cases = {
 "group 1000": [(o) => groupBy(G, { by: ["g"], aggregate: { n: count(), s: sum("v"), m: mean("f") }, ...o }), "SELECT g, count(*), sum(v), avg(f) FROM g GROUP BY g"],
 "group 1000 uniform": [(o) => groupBy(G, { by: ["g"], aggregate: { n: count(), s: sum("v"), m: mean("u") }, ...o }), "SELECT g, count(*), sum(v), avg(u) FROM g GROUP BY g"],
 "group n/8": [(o) => groupBy(G, { by: ["h"], aggregate: { n: count(), s: sum("v"), m: mean("f") }, ...o }), "SELECT h, count(*), sum(v), avg(f) FROM g GROUP BY h"],
 "group string": [(o) => groupBy(S, { by: ["s"], aggregate: { n: count(), m: mean("f") }, ...o }), "SELECT s, count(*), avg(f) FROM g GROUP BY s"],
 "string, date": [(o) => groupBy(S, { by: ["s", "d"], aggregate: { n: count(), m: mean("f") }, ...o }), "SELECT s, d, count(*), avg(f) FROM g GROUP BY s, d"],
 "min max f": [(o) => groupBy(G, { by: ["g"], aggregate: { a: min("f"), b: max("f") }, ...o }), "SELECT g, min(f), max(f) FROM g GROUP BY g"],
 "min max string": [(o) => groupBy(S, { by: ["d"], aggregate: { a: min("s"), b: max("s") }, ...o }), "SELECT d, min(s), max(s) FROM g GROUP BY d"],
 "countDistinct": [(o) => groupBy(S, { by: ["d"], aggregate: { a: countDistinct("s") }, ...o }), "SELECT d, count(distinct s) FROM g GROUP BY d"],
 "median": [(o) => groupBy(G, { by: ["g"], aggregate: { a: median("f") }, ...o }), "SELECT g, median(f) FROM g GROUP BY g"],
 "distinct n/8": [(o) => distinct(G, { on: ["h"], ...o }), "SELECT DISTINCT ON (h) * FROM g"],
};
for (const t of (process.argv[3] ?? "1,2").split(",").map(Number)) {
  const dev = await openDevice({ backend: "cpu", threads: t });
  const db = await (await DuckDBInstance.create(":memory:", { threads: String(t) })).connect();
  await db.run(`CREATE TABLE g AS SELECT (hash(i) % 1000)::INTEGER g, (hash(i+7) % ${N >> 3})::INTEGER h, (hash(i+9) % 100000)::DOUBLE/16 f, (hash(i+9)%4294967296)::DOUBLE/7e9 u, i::INTEGER v, DATE '2022-01-01' + (hash(i+11) % 365)::INTEGER d, 'city-' || (hash(i+3) % 5000)::VARCHAR s FROM range(${N}) t(i)`);
  for (const [name, [ours, sql]] of Object.entries(cases)) { if (only && !name.includes(only)) continue;
    const [a, st] = await best((onStage) => ours({ device: dev, onStage }));
    const [b] = await best(async () => { await db.run("CREATE OR REPLACE TABLE z AS " + sql); });
    console.log(String(t).padStart(2), name.padEnd(20), a.toFixed(0).padStart(6), b.toFixed(0).padStart(6), "ratio", (b / a).toFixed(2), st.join(", ")); }
  dev.destroy(); db.closeSync?.();
}
process.exit(0);
