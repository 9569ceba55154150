// The row hash: MurmurHash3's body (Appleby, public domain), a 32-bit word at a time, keyed by the call's seed
// (../../hash-seed.ts). A fragment.

fn mixWord(hash: u32, word: u32) -> u32 {
  var k = word * params.factor + params.summand;
  k = ((k << 15u) | (k >> 17u)) * 0x1b873593u;
  let h = hash ^ k;
  return (((h << 13u) | (h >> 19u)) * 5u + 0xe6546b64u) & HASH_MASK;
}
