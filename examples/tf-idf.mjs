// The words that set a text apart: TF-IDF of Shakespeare's sonnets, with string keys and keys of two columns.
//
//   node examples/tf-idf.mjs                     on a GPU if there is one, else on the CPU
//   node examples/tf-idf.mjs --backend cpu       or webgpu; with --software on a GPU in software
//   node examples/tf-idf.mjs FILE                a text of yours; blank lines part its documents
//
// A word's TF-IDF in a document is how often it comes there, times ln(number of documents / documents that have the word). Words of every
// document have 0, those that are frequent in one and rare in others the most.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { DynamicMap, openDevice } from "warpmap";

const {
  values: options,
  positionals: [file = new URL("data/sonnets.txt", import.meta.url)],
} = parseArgs({
  options: { backend: { type: "string" }, software: { type: "boolean" } },
  allowPositionals: true,
});
const device = await openDevice(options);

const documents = readFileSync(file, "utf8")
  .trim()
  .split(/\n\s*\n/)
  .map((text) => text.toLowerCase().match(/\p{Letter}+(?:['’]\p{Letter}+)*/gu) ?? []);
const words = documents.flat();
const documentOf = Uint32Array.from(documents.flatMap((list, number) => list.map(() => number)));
const ones = (length) => new Uint32Array(length).fill(1);

// Each word gets a number: where one of its occurrences is. So numbers[i] is the same for all i with the same word.
const vocabulary = await DynamicMap.create(device, { key: "utf8", value: "u32" });
const { values: numbers } = await vocabulary.insertAndFind(words, Uint32Array.from(words.keys()));

// How often each word comes in each document: the key has two columns.
const counts = await DynamicMap.create(device, { key: ["u32", "u32"], value: "u32" });
await counts.insertOrApply([numbers, documentOf], ones(words.length), "add");
const {
  keys: [word, document],
  values: count,
} = await counts.retrieveAll();

// How many documents have each word: every pair of a word and a document is there once.
const spread = await DynamicMap.create(device, { key: "u32", value: "u32" });
await spread.insertOrApply(word, ones(word.length), "add");
const { values: among } = await spread.find(word);

const pairs = Array.from(word, (at, i) => ({
  document: document[i],
  word: words[at],
  count: count[i],
  among: among[i],
  score: count[i] * Math.log(documents.length / among[i]),
}));
pairs.sort((a, b) => b.score - a.score || (a.word < b.word ? -1 : 1));

console.log(
  `${documents.length} documents, ${words.length} words, ${vocabulary.size} different ones, ${pairs.length} pairs`,
);
console.log("document  word        TF-IDF  times  documents with it");
for (const pair of pairs.slice(0, 10)) {
  const { document, word, score, count, among } = pair;
  const columns = [String(document + 1).padStart(8), word.padEnd(10), score.toFixed(1).padStart(7)];
  console.log(...columns, String(count).padStart(6), String(among).padStart(18));
}

check();
device.destroy();

/** The same with JavaScript's Map. */
function check() {
  const countsOf = documents.map((list) => {
    const counts = new Map();
    for (const word of list) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  });
  const among = new Map();
  for (const word of countsOf.flatMap((counts) => [...counts.keys()]))
    among.set(word, (among.get(word) ?? 0) + 1);
  const isRight = pairs.every(
    (p) => p.count === countsOf[p.document].get(p.word) && p.among === among.get(p.word),
  );
  if (!isRight || pairs.length !== countsOf.reduce((sum, counts) => sum + counts.size, 0))
    throw new Error("JavaScript's Map counts otherwise");
}
