// How long is a genome? Count the k-mers of its reads, with 64-bit keys.
//
//   node examples/k-mers.mjs                     on a GPU if there is one, else on the CPU
//   node examples/k-mers.mjs --backend cpu       or webgpu; with --software on a GPU in software
//   node examples/k-mers.mjs FILE                a FASTA file of yours, with one small circular genome
//
// A sequencing machine gives millions of short reads with errors, not the genome. A k-mer (here 21 bases) that has an error is rare, since
// the same error seldom happens twice; one of the genome is seen in many reads. So the frequent ones are as many as the genome has bases,
// where none of it repeats. The genome is that of phiX174, the first that was ever read; a seeded generator makes the reads.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openDevice, StaticMap, StaticSet } from "warpmap";

const K = 21;
const READ_LENGTH = 100;
/** Reads that have a base of the genome, on average. */
const COVERAGE = 100;
const ERROR_RATE = 0.01;
/** A k-mer that is seen so often is not an error. */
const FREQUENT = 10;

const {
  values: options,
  positionals: [file = new URL("data/phix174.fasta", import.meta.url)],
} = parseArgs({
  options: { backend: { type: "string" }, software: { type: "boolean" } },
  allowPositionals: true,
});
const device = await openDevice(options);

const [title, ...lines] = readFileSync(file, "utf8").trim().split(/\r?\n/);
const genome = lines.join("").toUpperCase();
if (/[^ACGT]/.test(genome)) throw new Error("This example takes one genome of A, C, G and T.");
const keys = BigUint64Array.from(makeReads(genome).flatMap(kmersOf));

// how often each k-mer comes; at most so many are different
const start = performance.now();
const counts = await StaticMap.create(device, { key: "u64", value: "u32", capacity: keys.length });
await counts.insertOrApply(keys, new Uint32Array(keys.length).fill(1), "add");
const { keys: kmers, values: seen } = await counts.retrieveAll();
const ms = performance.now() - start;

const frequent = kmers.filter((_, i) => seen[i] >= FREQUENT);
console.log(title.slice(1));
console.log(`${keys.length} k-mers in the reads, ${counts.size} different ones`);
console.log(`${kmers.length - frequent.length} are seen less than ${FREQUENT} times: errors`);
console.log(`${frequent.length} are seen more often; the genome has ${genome.length} bases`);

// are they those of the genome? It is circular: its last k-mers go on at its first base
const known = await StaticSet.create(device, { key: "u64", capacity: genome.length });
await known.insert(BigUint64Array.from(kmersOf(genome + genome.slice(0, K - 1))));
const isKnown = await known.contains(frequent);
console.log(`${isKnown.filter((yes) => yes).length} of them are in the genome`);

const startOfMap = performance.now();
const expected = new Map();
for (const key of keys) expected.set(key, (expected.get(key) ?? 0) + 1);
const msOfMap = performance.now() - startOfMap;
if (counts.size !== expected.size || kmers.some((key, i) => seen[i] !== expected.get(key)))
  throw new Error("a JavaScript Map counts otherwise");
console.log(
  `counted in ${ms.toFixed(0)} ms on ${device.backend}, in ${msOfMap.toFixed(0)} ms by a JavaScript Map`,
);
device.destroy();

/** The k-mers of a text of A, C, G, T as numbers, 2 bits a base. A k-mer and its reverse complement are one: the smaller number. */
function kmersOf(dna) {
  const kmers = [];
  const mask = (1n << BigInt(2 * K)) - 1n;
  let forward = 0n;
  let backward = 0n;
  for (let i = 0; i < dna.length; i++) {
    const base = BigInt("ACGT".indexOf(dna[i]));
    forward = ((forward << 2n) | base) & mask;
    backward = (backward >> 2n) | ((3n - base) << BigInt(2 * (K - 1)));
    if (i >= K - 1) kmers.push(forward < backward ? forward : backward);
  }
  return kmers;
}

/** Reads of either strand from all over a circular genome, with errors. */
function makeReads(genome) {
  let state = 1;
  const random = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const circle = genome + genome.slice(0, READ_LENGTH);
  return Array.from({ length: (COVERAGE * genome.length) / READ_LENGTH }, () => {
    const from = random(genome.length);
    const bases = [...circle.slice(from, from + READ_LENGTH)];
    const read = random(2) === 0 ? bases : bases.reverse().map((base) => "TGCA"["ACGT".indexOf(base)]);
    return read.map((base) => (random(1 / ERROR_RATE) === 0 ? "ACGT"[random(4)] : base)).join("");
  });
}
