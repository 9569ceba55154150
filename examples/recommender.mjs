// Recommend movies: look up the embeddings of their attributes in one batch, with strings as ids.
//
//   node examples/recommender.mjs                    on a GPU if there is one, else on the CPU
//   node examples/recommender.mjs --backend cpu      or webgpu; with --software on a GPU in software
//   node examples/recommender.mjs "Toy Story" Alien  movies like these
//
// A recommender keeps a vector for each id (here: attributes of movies, as "Director: Ridley Scott") as a row of a matrix. A map finds the row
// of each id; ids that it does not have get row 0, which is all zeros. A movie's vector is the sum of its attributes', and movies with
// similar vectors are alike. The movies are those of the package vega-datasets; the vectors are random, by a seeded generator, and so
// nearly orthogonal. Trained ones would be looked up the same way.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openDevice, StaticMap } from "warpmap";

const WIDTH = 128;
const ATTRIBUTES = ["Director", "Major Genre", "Creative Type", "Source", "Distributor"];

const { values: options, positionals } = parseArgs({
  options: { backend: { type: "string" }, software: { type: "boolean" } },
  allowPositionals: true,
});
const asked =
  positionals.length > 0 ? positionals : ["Raiders of the Lost Ark", "Toy Story", "Kill Bill: Volume 1"];
const device = await openDevice(options);

const file = new URL("../data/movies.json", import.meta.resolve("vega-datasets"));
const movies = JSON.parse(readFileSync(file, "utf8"));
const idsOf = (movie) => ATTRIBUTES.filter((name) => movie[name]).map((name) => `${name}: ${movie[name]}`);
const ids = movies.flatMap(idsOf);
const movieOf = movies.flatMap((movie, number) => idsOf(movie).map(() => number));

// an attribute of one movie alone says nothing about others: it gets no row
const known = repeated(ids);
const matrix = randomRows(known.length + 1);

const rows = await StaticMap.create(device, { key: "utf8", value: "u32", capacity: known.length });
await rows.insert(
  known,
  Uint32Array.from(known, (_, i) => i + 1),
);

const start = performance.now();
const { values: rowOf, found } = await rows.find(ids, { missing: 0 });
const ms = performance.now() - start;

const vectors = movies.map(() => new Float32Array(WIDTH));
for (const [i, row] of rowOf.entries()) add(vectors[movieOf[i]], matrix.subarray(row * WIDTH));

const unknown = found.filter((yes) => !yes).length;
console.log(
  `${movies.length} movies, ${ids.length} attributes looked up among ${rows.size}; ${unknown} are not there`,
);
for (const title of asked) {
  console.log(`like ${title}:`);
  for (const { movie, likeness } of mostLike(title).slice(0, 3))
    console.log(
      `  ${likeness.toFixed(2)}  ${movie.Title} (${idsOf(movie)
        .map((id) => id.split(": ")[1])
        .join(", ")})`,
    );
}

const rowsInMap = new Map(known.map((id, i) => [id, i + 1]));
const startOfMap = performance.now();
const expected = ids.map((id) => rowsInMap.get(id) ?? 0);
const msOfMap = performance.now() - startOfMap;
if (rowOf.some((row, i) => row !== expected[i])) throw new Error("a JavaScript Map finds other rows");
console.log(
  `looked up in ${ms.toFixed(0)} ms on ${device.backend}, in ${msOfMap.toFixed(0)} ms by a JavaScript Map`,
);
device.destroy();

/** Those that come more than once. */
function repeated(list) {
  const once = new Set();
  const more = new Set();
  for (const one of list) (once.has(one) ? more : once).add(one);
  return [...more];
}

/** Rows of the matrix: random ones, and zeros for what is not known. */
function randomRows(count) {
  let state = 1;
  const matrix = Float32Array.from({ length: count * WIDTH }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
  return matrix.fill(0, 0, WIDTH);
}

function add(sum, row) {
  for (let i = 0; i < WIDTH; i++) sum[i] += row[i];
}

/** All other movies, by the cosine of the angle between their vector and that of the first movie with this title. */
function mostLike(title) {
  const at = movies.findIndex((movie) => movie.Title === title);
  if (at < 0) throw new Error(`There is no movie "${title}" among these ${movies.length}.`);
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const length = (a) => Math.sqrt(dot(a, a)) || 1;
  const likeness = vectors.map((vector) => dot(vector, vectors[at]) / length(vector) / length(vectors[at]));
  const others = movies.map((movie, i) => ({ movie, likeness: likeness[i] })).filter((_, i) => i !== at);
  return others.sort((a, b) => b.likeness - a.likeness);
}
