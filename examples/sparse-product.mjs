// Multiply sparse matrices: where can one fly with one change? A join on the inner index, then sums by (row, column).
//
//   node examples/sparse-product.mjs                 on a GPU if there is one, else on the CPU
//   node examples/sparse-product.mjs --backend cpu   or webgpu; with --software on a GPU in software
//
// A has a row and a column for each airport, and 1 where flights go from one to the other. So (A · A)[i, j] is the number of airports k
// where one can change on the way from i to j: the sum over k of A[i, k] · A[k, j]. A multimap finds the second factors of each
// entry; insertOrApply adds up the products. The routes are those of the United States in 2008, from the package vega-datasets.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openDevice, StaticMap, StaticMultimap } from "warpmap";

const { values: options } = parseArgs({
  options: { backend: { type: "string" }, software: { type: "boolean" } },
});
const device = await openDevice(options);

const file = new URL("../data/flights-airport.csv", import.meta.resolve("vega-datasets"));
const [, ...lines] = readFileSync(file, "utf8").trim().split("\n");
const routes = lines.map((line) => line.split(",", 2));
const airports = [...new Set(routes.flat())].sort();

// a matrix is three columns: the row, the column and the value of each entry that is not 0
const A = {
  rows: Uint32Array.from(routes, ([origin]) => airports.indexOf(origin)),
  columns: Uint32Array.from(routes, ([, destination]) => airports.indexOf(destination)),
  values: new Uint32Array(routes.length).fill(1),
};

const start = performance.now();
const product = await multiply(A, A);
const ms = performance.now() - start;
console.log(`${airports.length} airports, ${routes.length} routes, ${product.size} pairs with a change`);

const from = ["SEA", "BOS", "ABE", "ABE"];
const to = ["MIA", "HNL", "SEA", "YUM"];
const indices = (names) => Uint32Array.from(names, (name) => airports.indexOf(name));
const { values: ways } = await product.find([indices(from), indices(to)]);
for (const [i, airport] of from.entries())
  console.log(`${airport} to ${to[i]}: ${ways[i]} airports to change at`);

const startOfDense = performance.now();
const dense = multiplyDense(A, A, airports.length);
const msOfDense = performance.now() - startOfDense;
const {
  keys: [rows, columns],
  values,
} = await product.retrieveAll();
const isRight = values.every((value, i) => value === dense[rows[i]][columns[i]]);
if (!isRight || values.length !== dense.flatMap((row) => [...row]).filter((value) => value !== 0).length)
  throw new Error("the dense product is another");
console.log(
  `as the dense product says; ${ms.toFixed(0)} ms on ${device.backend}, the dense product ${msOfDense.toFixed(0)} ms`,
);
device.destroy();

/** The product of two sparse matrices: a map from (row, column) to the value. */
async function multiply(left, right) {
  // the entries of each row of the right matrix, by their numbers
  const capacity = right.rows.length;
  const entriesOf = await StaticMultimap.create(device, { key: "u32", value: "u32", capacity });
  await entriesOf.insert(right.rows, Uint32Array.from(right.rows.keys()));

  // every pair of an entry [i, k] on the left and an entry [k, j] on the right
  const { queries: l, values: r } = await entriesOf.retrievePairs(left.columns);
  const rows = l.map((entry) => left.rows[entry]);
  const columns = r.map((entry) => right.columns[entry]);
  const products = l.map((entry, pair) => left.values[entry] * right.values[r[pair]]);

  const sums = await StaticMap.create(device, {
    key: ["u32", "u32"],
    value: "u32",
    capacity: products.length,
  });
  await sums.insertOrApply([rows, columns], products, "add");
  return sums;
}

/** The same with all zeros. */
function multiplyDense(left, right, n) {
  const full = ({ rows, columns, values }) => {
    const lists = Array.from({ length: n }, () => new Uint32Array(n));
    rows.forEach((row, entry) => {
      lists[row][columns[entry]] = values[entry];
    });
    return lists;
  };
  const [a, b] = [full(left), full(right)];
  return a.map((row) => {
    const sums = new Uint32Array(n);
    for (let k = 0; k < n; k++) for (let j = 0; j < n; j++) sums[j] += row[k] * b[k][j];
    return sums;
  });
}
