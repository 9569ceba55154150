// What a slot holds and how it is claimed, once for each format. All answer the same questions:
//
//   Word            what a look at a slot loads first: it tells free slots, and keys that are whole in it
//   look            loads it, in no order to what it loads next: settle makes what belongs to it visible
//   isEmpty, isTombstone, isReserved
//   holds           whether the slot, whose Word was seen, has this key
//   mayHold         false where its Word alone tells that it has not; of a key that is what markOf answers
//   claim           puts a key and its value into a slot that was seen free; answers the Word seen instead if somebody
//                   was faster. When it succeeds, whoever sees the key sees its value
//   claimShared     the same in shared memory, of formats other than WideSlot; storeShared: where nobody else writes
//   erase           takes a key that was seen out; false when somebody was faster
//   valueAt         where a slot's value is
//
// | format | key words, value words | slot | claimed by |
// |---|---|---|---|
// | WholeSlot | 1, 0; 1, 1; 2, 0 | {key}, {key, value} | one exchange of the whole slot |
// | PairSlot | 1, 2; 2, 1; 2, 2 | {key of 64 bits, value of 64 bits} | sm_90 and later: one exchange of the whole slot; others: an exchange to RESERVED; then value, key |
// | WideSlot | all others | state word, key's words, value's words | an exchange to RESERVED; then key, value, tag |
//
// Threads that meet RESERVED wait for the thread that is between its exchange and its last store: it depends on nobody,
// and threads of a warp progress independently (sm_70 and later).
#pragma once
#include "combine.cuh"
#include "float_keys.cuh"
#include "hash.cuh"

namespace warpmap {

/// What formats with sizes known at run time only ask of their table.
struct WideShape {
  u32 keyWords;
  u32 valueWords;
  /// Words from a slot's first to its value's first, and to the next slot.
  u32 valueOffset;
  u32 slotWords;
};

/// The value of a set.
struct NoValue {};

template <int WORDS> struct WordsOf;
template <> struct WordsOf<0> {
  using Type = NoValue;
};
template <> struct WordsOf<1> {
  using Type = u32;
};
template <> struct WordsOf<2> {
  using Type = u64;
};

/// Element `i` of a column of keys or values of one or two words.
template <class T> WARPMAP_DEVICE T elementOf(const unsigned char* column, u64 i) { return ((const T*)column)[i]; }

template <class KeyWord> struct Sentinels {
  static constexpr KeyWord EMPTY = KeyWord(0) - 1;
  static constexpr KeyWord TOMBSTONE = KeyWord(0) - 2;
  static constexpr KeyWord RESERVED = KeyWord(0) - 3;
};

/// What the formats share whose keys have one or two words: the key word begins the slot and marks free slots.
template <int KEY_WORDS, int VALUE_WORDS, class KeyWord> struct KeySlot {
  using Key = typename WordsOf<KEY_WORDS>::Type;
  using Value = typename WordsOf<VALUE_WORDS>::Type;
  static constexpr bool HAS_VALUE = VALUE_WORDS > 0;

  WARPMAP_DEVICE static Key loadKey(const WideShape&, const unsigned char* column, u64 i) { return elementOf<Key>(column, i); }
  WARPMAP_DEVICE static Value loadValue(const WideShape&, const unsigned char* column, u64 i) {
    if constexpr (HAS_VALUE) return elementOf<Value>(column, i);
    return Value();
  }
  WARPMAP_DEVICE static void storeKey(const WideShape&, unsigned char* column, u64 i, Key key) { ((Key*)column)[i] = key; }

  /// For a key that equals a mark its side slot, behind the table; for others SIDE_SLOTS of the format or more.
  WARPMAP_DEVICE static Key sideOf(Key key) { return ~key; }
  /// The key word of the entry in a side slot.
  static constexpr Key SIDE_KEY = 0;
  WARPMAP_DEVICE static u32 tagOf(u32) { return 0; }
  WARPMAP_DEVICE static Key markOf(Key key, u32) { return key; }

  WARPMAP_DEVICE static u32 hash(const WideShape&, u32 name, u32 multiplier, u32 offset, Key key) {
    if constexpr (KEY_WORDS == 1) return hashWord(name, key * multiplier + offset);
    const u32 low = u32(key) * multiplier + offset, high = u32(u64(key) >> 32) * multiplier + offset;
    return hashWords<2>(name, [=](u32 i) { return i == 0 ? low : high; }, 2);
  }
};

/// Words of neighbouring slots, of 16 bytes together or of one slot, loaded through L1. So a slot that was taken
/// meanwhile may look free: an exchange tells. It is never the other way round, unless keys are erased.
template <class Word, u32 COUNT> struct Window {
  Word words[COUNT];
  /// `at` is a multiple of 16 bytes where COUNT is more than 1.
  WARPMAP_DEVICE void load(const unsigned char* at) {
#if defined(__CUDACC__)
    if constexpr (COUNT == 4) {
      const uint4 all = *(const uint4*)at;
      words[0] = all.x, words[1] = all.y, words[2] = all.z, words[3] = all.w;
    } else if constexpr (COUNT == 2) {
      const ulonglong2 all = *(const ulonglong2*)at;
      words[0] = all.x, words[1] = all.y;
    } else {
      words[0] = *(const Word*)at;
    }
#else
    for (u32 w = 0; w < COUNT; w++) words[w] = loadRelaxed((const Word*)at + w);
#endif
  }
  WARPMAP_DEVICE void fill(Word word) {
#pragma unroll
    for (u32 w = 0; w < COUNT; w++) words[w] = word;
  }
  /// The word of a slot of the window.
  WARPMAP_DEVICE Word of(u32 slot) const {
    Word word = words[0];
#pragma unroll
    for (u32 w = 1; w < COUNT; w++) {
      const Word other = words[w];
      word = slot % COUNT == w ? other : word;
    }
    return word;
  }
};

/// A slot that is exchanged whole.
template <int KEY_WORDS, int VALUE_WORDS, class WordType>
struct WholeSlot : KeySlot<KEY_WORDS, VALUE_WORDS, typename WordsOf<KEY_WORDS>::Type> {
  using Base = KeySlot<KEY_WORDS, VALUE_WORDS, typename WordsOf<KEY_WORDS>::Type>;
  using typename Base::Key;
  using typename Base::Value;
  using Word = WordType;
  using Marks = Sentinels<Key>;
  static constexpr u32 SIDE_SLOTS = 2;
  static constexpr u32 BYTES = sizeof(Word);
  static constexpr u32 WINDOW = 16 / BYTES;

  WARPMAP_DEVICE static Key keyOf(Word word) { return Key(word); }
  WARPMAP_DEVICE static bool isEmpty(Word word) { return keyOf(word) == Marks::EMPTY; }
  WARPMAP_DEVICE static bool isTombstone(Word word) { return keyOf(word) == Marks::TOMBSTONE; }
  WARPMAP_DEVICE static bool isReserved(Word) { return false; }
  WARPMAP_DEVICE static Word look(const unsigned char* slot) { return loadRelaxed((const Word*)slot); }
  WARPMAP_DEVICE static bool mayHold(Word word, Key mark) { return keyOf(word) == mark; }
  WARPMAP_DEVICE static bool holds(const WideShape&, const unsigned char*, Word word, Key key, u32) { return keyOf(word) == key; }
  WARPMAP_DEVICE static void settleKey(Word, u32) {}
  WARPMAP_DEVICE static void settleValue() {}
  WARPMAP_DEVICE static Word whole(Key key, Value value) {
    if constexpr (Base::HAS_VALUE) return key | Word(value) << 32;
    return key;
  }
  WARPMAP_DEVICE static Word claim(const WideShape&, unsigned char* slot, Word seen, Key key, Value value, u32) {
    return compareExchange((Word*)slot, seen, whole(key, value));
  }
  WARPMAP_DEVICE static Word claimShared(unsigned char* slot, Word seen, Key key, Value value) {
    return compareExchange((Word*)slot, seen, whole(key, value));
  }
  WARPMAP_DEVICE static void storeShared(unsigned char* slot, Key key, Value value) { *(Word*)slot = whole(key, value); }
  WARPMAP_DEVICE static bool erase(unsigned char* slot, Word word, Key mark) {
    return compareExchange((Key*)slot, keyOf(word), mark) == keyOf(word);
  }
  WARPMAP_DEVICE static Value* valueAt(const WideShape&, unsigned char* slot) { return (Value*)(slot + 4); }
  WARPMAP_DEVICE static Value valueIn(const WideShape&, const unsigned char*, Word word) {
    if constexpr (Base::HAS_VALUE) return Value(word >> 32);
    return Value();
  }
  WARPMAP_DEVICE static Value valueAtRest(const WideShape& shape, const unsigned char* slot, Word word) {
    return valueIn(shape, slot, word);
  }
};

/// A key and a value of 64 bits each; those of one word fill up with zeros.
template <int KEY_WORDS, int VALUE_WORDS> struct PairSlot : KeySlot<KEY_WORDS, VALUE_WORDS, u64> {
  using Base = KeySlot<KEY_WORDS, VALUE_WORDS, u64>;
  using typename Base::Key;
  using typename Base::Value;
  using Word = u64;
  using Marks = Sentinels<u64>;
  /// Keys of one word could do without, but have those of all formats with such keys.
  static constexpr u32 SIDE_SLOTS = KEY_WORDS == 1 ? 2 : 3;
  static constexpr u32 BYTES = 16;
  static constexpr u32 WINDOW = 1;

  WARPMAP_DEVICE static Key keyOf(Word word) { return Key(word); }
  WARPMAP_DEVICE static bool isEmpty(Word word) { return word == Marks::EMPTY; }
  WARPMAP_DEVICE static bool isTombstone(Word word) { return word == Marks::TOMBSTONE; }
  WARPMAP_DEVICE static bool isReserved(Word word) { return word == Marks::RESERVED; }
  WARPMAP_DEVICE static Word look(const unsigned char* slot) { return loadRelaxed((const Word*)slot); }
  WARPMAP_DEVICE static bool mayHold(Word word, Key mark) { return word == mark; }
  WARPMAP_DEVICE static bool holds(const WideShape&, const unsigned char*, Word word, Key key, u32) { return word == key; }
  WARPMAP_DEVICE static void settleKey(Word, u32) {}
  WARPMAP_DEVICE static void settleValue() { __threadfence(); }
  WARPMAP_DEVICE static Word claim(const WideShape&, unsigned char* slot, Word seen, Key key, Value value, u32) {
#if defined(WARPMAP_HAS_WIDE_EXCHANGE)
    // of a slot that was free before, its last value is still there
    u64 lastValue = ~0ull, old;
    while (!compareExchangePair((u64*)slot, seen, lastValue, Word(key), u64(value), old)) {
      if (old != seen) return old;
      lastValue = loadRelaxed((const u64*)(slot + 8));
    }
    return old;
#else
    const Word old = compareExchange((Word*)slot, seen, Word(Marks::RESERVED));
    if (old == seen) {
      storeRelaxed((u64*)(slot + 8), u64(value));
      storeRelease((Word*)slot, Word(key));
    }
    return old;
#endif
  }
  /// No exchange of 16 bytes takes shared memory.
  WARPMAP_DEVICE static Word claimShared(unsigned char* slot, Word seen, Key key, Value value) {
    const Word old = compareExchange((Word*)slot, seen, Word(Marks::RESERVED));
    if (old == seen) {
      atomicExch((u64*)(slot + 8), u64(value));
      __threadfence_block();
      atomicExch((Word*)slot, Word(key));
    }
    return old;
  }
  WARPMAP_DEVICE static void storeShared(unsigned char* slot, Key key, Value value) {
    *(ulonglong2*)slot = ulonglong2{u64(key), u64(value)};
  }
  WARPMAP_DEVICE static bool erase(unsigned char* slot, Word word, u64 mark) {
    return compareExchange((Word*)slot, word, mark) == word;
  }
  WARPMAP_DEVICE static Value* valueAt(const WideShape&, unsigned char* slot) { return (Value*)(slot + 8); }
  WARPMAP_DEVICE static Value valueIn(const WideShape&, const unsigned char* slot, Word) {
    return loadRelaxed((const Value*)(slot + 8));
  }
  /// The same where nobody writes: the slot is in L1.
  WARPMAP_DEVICE static Value valueAtRest(const WideShape&, const unsigned char* slot, Word) { return *(const Value*)(slot + 8); }
};

/// A key of up to eight words, in registers.
struct WideKey {
  u32 words[MOST_KEY_WORDS];
};

/// Where a value of any number of words is in its batch.
struct WideValue {
  const u32* words;
};

/// A slot of any number of words. The state word is EMPTY, TOMBSTONE, RESERVED (claimed, the key is not there yet),
/// LOCKED (the value is being written) or the entry's tag.
struct WideSlot {
  using Key = WideKey;
  using Value = WideValue;
  using Word = u32;
  static constexpr u32 SIDE_SLOTS = 0;
  static constexpr u32 WINDOW = 1;
  static constexpr bool HAS_VALUE = true;
  static constexpr u32 EMPTY = 0xffffffffu, TOMBSTONE = 0xfffffffeu, RESERVED = 0, LOCKED = 1;
  struct Marks {
    static constexpr u32 EMPTY = WideSlot::EMPTY, TOMBSTONE = WideSlot::TOMBSTONE;
  };

  /// tagOf of engine/tags.ts: 31 bits of the hash.
  WARPMAP_DEVICE static u32 tagOf(u32 hash) {
    const u32 tag = 0x80000000u | hash >> 1;
    return tag < TOMBSTONE ? tag : TOMBSTONE - 1;
  }
  WARPMAP_DEVICE static bool isEmpty(Word word) { return word == EMPTY; }
  WARPMAP_DEVICE static bool isTombstone(Word word) { return word == TOMBSTONE; }
  WARPMAP_DEVICE static bool isReserved(Word word) { return word == RESERVED; }
  WARPMAP_DEVICE static Word look(const unsigned char* slot) { return loadRelaxed((const Word*)slot); }
  WARPMAP_DEVICE static void settleKey(Word word, u32 tag) {
    if (word == tag || word == LOCKED) __threadfence();
  }
  WARPMAP_DEVICE static void settleValue() {}

  WARPMAP_DEVICE static Key loadKey(const WideShape& shape, const unsigned char* column, u64 i) {
    Key key;
    const u32* from = (const u32*)column + i * shape.keyWords;
#pragma unroll
    for (u32 w = 0; w < MOST_KEY_WORDS; w++) key.words[w] = w < shape.keyWords ? from[w] : 0;
    return key;
  }
  WARPMAP_DEVICE static void storeKey(const WideShape& shape, unsigned char* column, u64 i, const Key& key) {
    u32* to = (u32*)column + i * shape.keyWords;
#pragma unroll
    for (u32 w = 0; w < MOST_KEY_WORDS; w++) {
      if (w < shape.keyWords) to[w] = key.words[w];
    }
  }
  WARPMAP_DEVICE static Value loadValue(const WideShape& shape, const unsigned char* column, u64 i) {
    return {(const u32*)column + i * shape.valueWords};
  }
  /// The hash that an entry's home comes from: what its tag has of the key's hash.
  WARPMAP_DEVICE static u32 hash(const WideShape& shape, u32 name, u32 multiplier, u32 offset, const Key& key) {
    const auto word = [&](u32 i) { return key.words[i] * multiplier + offset; };
    return hashWords<MOST_KEY_WORDS>(name, word, shape.keyWords);
  }

  WARPMAP_DEVICE static u32 markOf(const Key&, u32 tag) { return tag; }
  WARPMAP_DEVICE static bool mayHold(Word word, u32 mark) { return word == mark || word == LOCKED; }
  /// Of LOCKED slots the tag is not known.
  WARPMAP_DEVICE static bool holds(const WideShape& shape, const unsigned char* slot, Word word, const Key& key, u32 tag) {
    if (word != tag && word != LOCKED) return false;
    const u32* stored = (const u32*)slot + 1;
    bool isSame = true;
#pragma unroll
    for (u32 w = 0; w < MOST_KEY_WORDS; w++) {
      if (w < shape.keyWords) isSame = isSame && loadRelaxed(stored + w) == key.words[w];
    }
    return isSame;
  }
  WARPMAP_DEVICE static void storeWords(u32* to, const u32* from, u32 count) {
    for (u32 w = 0; w < count; w++) storeRelaxed(to + w, from[w]);
  }
  WARPMAP_DEVICE static Word claim(const WideShape& shape, unsigned char* slot, Word seen, const Key& key, Value value, u32 tag) {
    u32* words = (u32*)slot;
    const Word old = compareExchange(words, seen, u32(RESERVED));
    if (old != seen) return old;
#pragma unroll
    for (u32 w = 0; w < MOST_KEY_WORDS; w++) {
      if (w < shape.keyWords) storeRelaxed(words + 1 + w, key.words[w]);
    }
    storeWords(words + shape.valueOffset, value.words, shape.valueWords);
    storeRelease(words, tag);
    return old;
  }
  WARPMAP_DEVICE static bool erase(unsigned char* slot, Word word, u32 mark) {
    return compareExchange((Word*)slot, word, mark) == word;
  }
  /// Overwrites a value of more than two words whole. Where another thread does so, this one's value came before.
  WARPMAP_DEVICE static void assign(const WideShape& shape, unsigned char* slot, Word tag, Value value) {
    u32* words = (u32*)slot;
    if (tag == LOCKED || compareExchange(words, tag, u32(LOCKED)) != tag) return;
    storeWords(words + shape.valueOffset, value.words, shape.valueWords);
    storeRelease(words, tag);
  }
};

/// The format of tables whose keys and values have so many words; -1, -1: known at run time.
template <int KEY_WORDS, int VALUE_WORDS> struct SlotsOf {
  using Type = PairSlot<KEY_WORDS, VALUE_WORDS>;
};
template <> struct SlotsOf<1, 0> {
  using Type = WholeSlot<1, 0, u32>;
};
template <> struct SlotsOf<1, 1> {
  using Type = WholeSlot<1, 1, u64>;
};
template <> struct SlotsOf<2, 0> {
  using Type = WholeSlot<2, 0, u64>;
};
template <> struct SlotsOf<-1, -1> {
  using Type = WideSlot;
};

}  // namespace warpmap
