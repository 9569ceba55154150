// Count the triangles of a graph: who, among people that are met together, has met whom, with a multimap and a set of edges.
//
//   node examples/triangles.mjs                            the characters of Les Misérables; two are joined where they share a chapter
//   node examples/triangles.mjs --nodes 20000 --edges 400000   a random graph, by a seeded generator
//   with --backend cpu                                     or webgpu; with --software on a GPU in software
//
// Edges go from the node with fewer neighbours to the one with more. So every triangle has one node that both others are reached from in
// a fixed order: a to b, b to c, a to c. The multimap joins edges a-b with edges b-c, and the set says which a-c there are.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openDevice, StaticMultimap, StaticSet } from "warpmap";

const { values: args } = parseArgs({
  options: {
    nodes: { type: "string" },
    edges: { type: "string" },
    backend: { type: "string" },
    software: { type: "boolean" },
  },
});
const { nodes, edges: count, ...options } = args;
const device = await openDevice(options);

const [from, to] = directed(nodes ? randomGraph(Number(nodes), Number(count)) : lesMiserables());

const start = performance.now();
const edges = await StaticSet.create(device, { key: ["u32", "u32"], capacity: from.length });
await edges.insert([from, to]);
const neighbours = await StaticMultimap.create(device, { key: "u32", value: "u32", capacity: from.length });
await neighbours.insert(from, to);

// paths a-b-c: queries[i] is the number of an edge a-b, values[i] a node c that b has an edge to
const { queries, values } = await neighbours.retrievePairs(to);
const isClosed = await edges.contains([queries.map((edge) => from[edge]), values]);
const triangles = isClosed.reduce((sum, one) => sum + one, 0);
const ms = performance.now() - start;

console.log(`${edges.size} edges, ${queries.length} paths of two, ${triangles} triangles`);
if (nodes) {
  // each of the n(n-1)(n-2)/6 triples is a triangle with the chance that three given edges are there
  const [n, m] = [Number(nodes), from.length];
  const expected = ((n * (n - 1) * (n - 2)) / 6) * (m / ((n * (n - 1)) / 2)) ** 3;
  console.log(`a random graph of that size has ${expected.toFixed(0)} on average`);
}

const startOfSets = performance.now();
const expected = countWithSets();
const msOfSets = performance.now() - startOfSets;
if (triangles !== expected) throw new Error(`JavaScript's Set counts ${expected}`);
console.log(
  `counted in ${ms.toFixed(0)} ms on ${device.backend}, in ${msOfSets.toFixed(0)} ms by JavaScript Sets`,
);
device.destroy();

/** The edges as two columns, from nodes with fewer neighbours to nodes with more. */
function directed(pairs) {
  const degrees = new Map();
  for (const node of pairs.flat()) degrees.set(node, (degrees.get(node) ?? 0) + 1);
  const isFirst = (a, b) => degrees.get(a) < degrees.get(b) || (degrees.get(a) === degrees.get(b) && a < b);
  const sorted = pairs.map(([a, b]) => (isFirst(a, b) ? [a, b] : [b, a]));
  return [Uint32Array.from(sorted, ([a]) => a), Uint32Array.from(sorted, ([, b]) => b)];
}

function lesMiserables() {
  const file = new URL("../data/miserables.json", import.meta.resolve("vega-datasets"));
  return JSON.parse(readFileSync(file, "utf8")).links.map(({ source, target }) => [source, target]);
}

/** Different edges, each pair of nodes equally likely. */
function randomGraph(nodes, edges) {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * nodes);
  };
  const pairs = new Map();
  while (pairs.size < edges) {
    const [a, b] = [random(), random()];
    if (a !== b) pairs.set(Math.min(a, b) * nodes + Math.max(a, b), [a, b]);
  }
  return [...pairs.values()];
}

/** The same with a JavaScript Set of neighbours for each node. */
function countWithSets() {
  const reached = new Map();
  from.forEach((a, i) => {
    if (!reached.has(a)) reached.set(a, new Set());
    reached.get(a).add(to[i]);
  });
  let triangles = 0;
  for (const set of reached.values())
    for (const b of set) for (const c of reached.get(b) ?? []) if (set.has(c)) triangles++;
  return triangles;
}
