// Count the words of a text with a map of strings, and check the answer against a JavaScript Map.
//
//   node examples/word-count.mjs                      the README of this package
//   node examples/word-count.mjs FILE [TIMES]         a text of yours, as if it were TIMES as long
//   node examples/word-count.mjs --backend cpu        or webgpu; with --software on a GPU in software
//
// Words are runs of letters, in lower case, with apostrophes inside ("feel'st"). The ten most frequent ones are printed, with their counts.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { DynamicMap, openDevice } from "warpmap";

const {
  values: options,
  positionals: [file = new URL("../README.md", import.meta.url), times = "1"],
} = parseArgs({
  options: { backend: { type: "string" }, software: { type: "boolean" } },
  allowPositionals: true,
});
const device = await openDevice(options);

const once =
  readFileSync(file, "utf8")
    .toLowerCase()
    .match(/\p{Letter}+(?:['’]\p{Letter}+)*/gu) ?? [];
const words = Array.from({ length: Number(times) }, () => once).flat();

const start = performance.now();
const counts = await DynamicMap.create(device, { key: "utf8", value: "u32" });
await counts.insertOrApply(words, new Uint32Array(words.length).fill(1), "add");
const { keys, values } = await counts.retrieveAll();
const ms = performance.now() - start;

const entries = keys.toArray().map((word, i) => [word, values[i]]);
entries.sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
for (const [word, count] of entries.slice(0, 10)) console.log(String(count).padStart(8), word);
console.log(`${words.length} words, ${counts.size} different ones`);

const startOfMap = performance.now();
const expected = new Map();
for (const word of words) expected.set(word, (expected.get(word) ?? 0) + 1);
const msOfMap = performance.now() - startOfMap;
const isRight = entries.length === expected.size && entries.every(([word, n]) => expected.get(word) === n);
if (!isRight) throw new Error("a JavaScript Map counts otherwise");
console.log(
  `counted in ${ms.toFixed(0)} ms on ${device.backend}, in ${msOfMap.toFixed(0)} ms by a JavaScript Map`,
);
device.destroy();
