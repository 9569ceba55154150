// windows_find: look-ups by windows (windows.cuh), for tables so full that probes are long. A look-up compares the entries
// that share its key's home slot alone.
//
// Behind a window's slots, it has 255 more slots and two bytes for each of the window's. All elements of a window whose
// entries are neither in runs nor can be brought into the order of home slots go to `list`.
//
// Bytes per slot of 8 bytes: 8 read, as many again from L2 where entries do not lie in runs; per element of u32 → u32: 4
// read, 5 written.
#include "windows.cuh"

namespace warpmap {

/// Slots behind a window that are read at most.
constexpr u32 MOST_BEHIND = 8192;
/// Windows without runs after which blocks look for no more: the table was not filled at once, or keys were erased.
constexpr u32 MOST_UNORDERED = 64;

/// Entries in `count` slots behind a window's, for keys whose home slot is `first` or a later one.
struct Behind {
  u32 first, count;
};

/// Answers the elements of a window: homes.rangeOf(home) says where the entries of a home slot are. Slots beside those are
/// looked at as well; what is no entry of the window is EMPTY, or has a key of another one. All threads of a warp compare
/// as often as one does, so that they stay together.
template <int K, int V, class Homes>
WARPMAP_DEVICE void answer(const windows_find_arguments& a, const Table<K, V>& table, const SharedWindow<K, V>& window,
                           const Homes& homes, const Behind& behind) {
  using T = Table<K, V>;
  using Slots = typename T::Slots;
  const u32 slots = window.slots, end = window.firstLeft, lane = threadIdx.x % 32;
  for (u32 first = window.firstElement + threadIdx.x; first - lane < end; first += LOADS_AT_ONCE * WINDOW_BLOCK) {
    typename T::Key keys[LOADS_AT_ONCE];
#pragma unroll
    for (u32 k = 0; k < LOADS_AT_ONCE; k++) {
      if (first + k * WINDOW_BLOCK < end) keys[k] = table.keyAt(a.keys.at, first + k * WINDOW_BLOCK);
    }
#pragma unroll
    for (u32 k = 0; k < LOADS_AT_ONCE; k++) {
      const u32 i = first + k * WINDOW_BLOCK, home = i < end ? window.homeOf(table, keys[k]) : slots;
      const bool isMine = home < slots;
      typename T::Place place = {window.firstSlot, 0, false};
      u32 found = 0;
      const auto compare = [&](u32 slot, typename T::Word word) {
        if (Slots::mayHold(word, keys[k])) place.word = word, place.isThere = true, found = slot;
      };
      const SlotRange range = isMine ? homes.rangeOf(home) : SlotRange{0, 0};
      const u32 begin = range.first / Slots::WINDOW * Slots::WINDOW;
      const u32 most = __reduce_max_sync(ALL_LANES, range.end - begin);
      for (u32 n = 0; n < most; n += Slots::WINDOW) {
        if (begin + n >= range.end) continue;
        Window<typename T::Word, Slots::WINDOW> row;
        row.load(window.at(begin + n));
#pragma unroll
        for (u32 w = 0; w < Slots::WINDOW; w++) compare(begin + n + w, row.words[w]);
      }
      const bool looksBehind = isMine && !place.isThere && home >= behind.first;
      if (__any_sync(ALL_LANES, looksBehind)) {
        for (u32 n = 0; n < behind.count; n++) {
          if (looksBehind) compare(slots + n, window.look(slots + n));
        }
      }
      if (isMine) storeFound(table, a, i, place, window.at(found));
      else if (i < end) window.list(i);
      __syncwarp();
    }
  }
}

/// A window whose look-ups are answered.
template <int K, int V> struct LookedUpWindow {
  using T = Table<K, V>;
  using Slots = typename T::Slots;
  using Word = typename T::Word;
  const T& table;
  const SharedWindow<K, V>& window;

  WARPMAP_DEVICE u32 homeOf(Word word) const {
    return table.hasEntry(word) ? window.homeOfEntry(table, Slots::keyOf(word)) : window.slots;
  }
  /// Slots of the table, counted from the window's first; some are behind the window.
  WARPMAP_DEVICE unsigned char* slotAt(u32 i) const {
    const u64 slot = u64(window.firstSlot) + i;
    return table.at(slot < table.slotCount() ? slot : slot - table.slotCount());
  }
  WARPMAP_DEVICE Word wordAt(u32 i) const { return *(const Word*)slotAt(i); }
  /// The bytes of home slots: they come behind the window's slots and MOST more, which entries behind the window need.
  WARPMAP_DEVICE unsigned char* besides() const {
    return window.memory + alignedTo16((window.slots + HomeBytes::MOST) * Slots::BYTES);
  }
  /// Calls visit(i, word) for slots behind the window up to a row with an EMPTY one: entries that lie behind the window have
  /// no empty slot between it and them. Answers where that row ends; 0 where that is too far.
  template <class Visit> WARPMAP_DEVICE u32 eachBehind(const Visit& visit) const {
    u32 end = window.slots;
    for (bool isEnd = false; !isEnd; end += WINDOW_BLOCK) {
      if (end - window.slots >= MOST_BEHIND || end + WINDOW_BLOCK >= table.slotCount()) return 0;
      const Word word = wordAt(end + threadIdx.x);
      visit(end + threadIdx.x, word);
      isEnd = __syncthreads_or(Slots::isEmpty(word));
    }
    return end;
  }
};

/// Answers a window's look-ups where the entries of each home slot lie in a run, as layOut leaves them. Those behind the
/// window come behind its slots. False where they do not lie so.
template <int K, int V>
WARPMAP_DEVICE bool findInRuns(const windows_find_arguments& a, const Table<K, V>& table, const SharedWindow<K, V>& window) {
  using Slots = typename Table<K, V>::Slots;
  u32* const unordered = &table.control().unordered;
  if (__syncthreads_or(threadIdx.x == 0 && loadRelaxed(unordered) > MOST_UNORDERED)) return false;
  const LookedUpWindow<K, V> lookUps{table, window};
  const u32 slots = window.slots, lane = threadIdx.x % 32;
  const HomeRuns runs{lookUps.besides()};
  __shared__ u32 firstBehind, behind;
  if (threadIdx.x == 0) firstBehind = behind = 0;
  runs.clear(slots);
  window.fillBehind();
  window.read();
  u32 begun = 0, lastEmpty = 0, longest = 0;
  // each warp has neighbouring rows; a run ends where the next slot is of another home slot
  const u32 rows = u32(ceilDivide(slots + 1, WINDOW_BLOCK)), first = threadIdx.x / 32 * rows * 32;
  const auto homeAt = [&](u32 slot) { return slot < slots ? lookUps.homeOf(window.look(slot)) : slots; };
  u32 last = homeAt(first - 1);
  for (u32 row = 0; row < rows; row++) {
    const u32 slot = first + row * 32 + lane, home = homeAt(slot);
    u32 before = __shfl_up_sync(ALL_LANES, home, 1);
    if (lane == 0) before = last;
    last = __shfl_sync(ALL_LANES, home, 31);
    if (before != home) {
      if (before < slots) runs.end(before, slot - before);
      if (home < slots) runs.begin(home, slot - home), begun++;
    }
    if (home < slots) longest = max(longest, slot - home);
    else if (slot < slots && Slots::isEmpty(window.look(slot))) lastEmpty = slot + 1;
  }
  const u32 end = lookUps.eachBehind([&](u32 i, typename Table<K, V>::Word word) {
    if (lookUps.homeOf(word) >= slots) return;
    const u32 at = atomicAdd(&behind, 1u);
    if (at >= HomeBytes::MOST) return;
    const auto value = Slots::valueAtRest(table.shape(), lookUps.slotAt(i), word);
    Slots::storeShared(window.at(slots + at), Slots::keyOf(word), value);
  });
  lastEmpty = __reduce_max_sync(ALL_LANES, lastEmpty);
  if (lane == 0) atomicMax(&firstBehind, lastEmpty);
  __syncthreads();
  const bool fits = longest < HomeRuns::MOST && end != 0 && behind <= HomeBytes::MOST;
  // two runs of a home slot are counted as one here
  const BlockCounts<1> counts;
  counts.addAll(0, begun - runs.countOfThread(slots));
  if (__syncthreads_or(!fits) || counts.sums[0] != 0) {
    if (threadIdx.x == 0) atomicAdd(unordered, 1u);
    return false;
  }
  answer(a, table, window, runs, {firstBehind, behind});
  return true;
}

/// Answers a window's look-ups from its entries in the order of home slots, as layOut has them, so that a look-up compares
/// those that share its key's home slot alone, however full the table is. False where that fails.
template <int K, int V>
WARPMAP_DEVICE bool findInOrder(const windows_find_arguments& a, const Table<K, V>& table, const SharedWindow<K, V>& window) {
  using T = Table<K, V>;
  using Slots = typename T::Slots;
  using Word = typename T::Word;
  const LookedUpWindow<K, V> lookUps{table, window};
  const u32 slots = window.slots;
  const HomeBytes homes(lookUps.besides(), slots);
  homes.clear();
  window.fill();
  u32 added = 0;
  const auto add = [&](u32, Word word) {
    const u32 home = lookUps.homeOf(word);
    if (home >= slots) return;
    homes.add(home);
    added++;
  };
  const auto wordAt = [&](u32 i) { return lookUps.wordAt(i); };
  eachAtOnce(0, slots, wordAt, add);
  const u32 end = lookUps.eachBehind(add);
  if (end == 0 || !homes.toPlaces(added)) return false;
  eachAtOnce(0, end, wordAt, [&](u32 i, Word word) {
    const u32 home = lookUps.homeOf(word);
    if (home >= slots) return;
    const auto value = Slots::valueAtRest(table.shape(), lookUps.slotAt(i), word);
    Slots::storeShared(window.at(home + homes.add(home)), Slots::keyOf(word), value);
  });
  __syncthreads();
  answer(a, table, window, homes, {slots, 0});
  return true;
}

template <int K, int V> WARPMAP_DEVICE void findWindow(const windows_find_arguments& a) {
  WARPMAP_DYNAMIC_SHARED(memory);
  const Table<K, V> table(a);
  const SharedWindow<K, V> window(table, a, memory);
  if (!window.hasElements()) return;
  window.prefetch(a.keys, 4 * K);
  const bool isAnswered = findInRuns(a, table, window) || findInOrder(a, table, window);
  window.leave(isAnswered ? window.firstLeft : window.firstElement);
}

}  // namespace warpmap

WARPMAP_KERNELS_OF_WINDOWS(find, 2)
