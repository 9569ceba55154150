// The hash of a word of a key, keyed by the engine's seed: a bijection for every seed (../../hash-seed.ts). A fragment
// after ../table/hash.wgsl.

fn keyedHash(word: u32) -> u32 { return murmur3(word * params.multiplier + params.offset); }
