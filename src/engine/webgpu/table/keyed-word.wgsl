// What a seed makes of a key's word before it is hashed: keyedWord of engine/hash.ts, bit for bit. A fragment after
// hash.wgsl, for modules with hashSeed.

fn keyedWord(word: u32) -> u32 { return word * (murmur3(hashSeed()) | 1u) + murmur3(hashSeed() + 0x9e3779b9u); }
