// Packing a column into the rows' records: its words, its null bits, and its part of the hash. Columns are packed in
// order, a launch each. Blocks of 256; a thread owns a row's record.
//
//   pack_words  a column of fixed width: 4 × width bytes read, 4 × width + 8 read and written, a row
//   pack_bytes  a column of strings, which records refer to: 8 and the string read, 16 read and written
#include "../rows.cuh"

namespace warpmap::rows {

/// MurmurHash3's body (Appleby, public domain), a word at a time, keyed by the call's seed (engine/hash-seed.ts).
struct Mixer {
  u32 factor, summand, mask;

  template <class Arguments>
  WARPMAP_DEVICE explicit Mixer(const Arguments& a) : factor(a.params.factor), summand(a.params.summand), mask(a.HASH_MASK) {}

  WARPMAP_DEVICE u32 mix(u32 hash, u32 word) const {
    const u32 k = rotateLeft(word * factor + summand, 15) * 0x1b873593u;
    return (rotateLeft(hash ^ k, 13) * 5 + 0xe6546b64u) & mask;
  }
};

/// `pack(to, row, isNull, hash)` writes the column's words, and answers the hash with them.
template <class Arguments, class Pack> WARPMAP_DEVICE void packColumn(const Arguments& a, const Pack& pack) {
  eachElement(a, [&](u32 row) {
    u32* record = wordsOf(a.records) + u64(row) * a.params.rowWords;
    const bool isNull = a.NULLABLE && !bitOf(a.validity, row);
    if (a.params.column == 0) {
      for (u32 i = 0; i < a.params.nullWords; i++) record[1 + i] = 0;
    }
    const u32 hash = a.params.column == 0 ? 0 : record[0];
    if (isNull) record[1 + a.params.column / 32] |= 1u << (a.params.column % 32);
    record[0] = pack(record + a.params.columnWord, row, isNull, hash);
  });
}

WARPMAP_KERNEL(groups_pack_words, groups_pack_words_arguments, 256) {
  const Mixer mixer(a);
  packColumn(a, [&](u32* to, u32 row, bool isNull, u32 hash) {
    for (u32 i = 0; i < a.params.columnWidth; i++) {
      const u32 word = isNull ? 0 : wordsOf(a.data)[u64(row) * a.params.columnWidth + i];
      to[i] = word;
      hash = mixer.mix(hash, word);
    }
    return hash;
  });
}

WARPMAP_KERNEL(groups_pack_bytes, groups_pack_bytes_arguments, 256) {
  const Mixer mixer(a);
  const u32* bytes = wordsOf(a.bytes);
  packColumn(a, [&](u32* to, u32 row, bool isNull, u32 hash) {
    const u32 start = isNull ? 0 : a.params.columnBytes + wordsOf(a.starts)[row];
    const u32 length = isNull ? 0 : wordsOf(a.ends)[row] - wordsOf(a.starts)[row];
    u32 i = 0;
    for (; i + 4 <= length; i += 4) hash = mixer.mix(hash, bytesAt(bytes, start + i));
    if (i < length) hash = mixer.mix(hash, lastBytesAt(bytes, start + i, length - i));
    to[0] = start;
    to[1] = length;
    return mixer.mix(hash, length);
  });
}

}  // namespace warpmap::rows
