// Windows: a batch is sorted by partition (partition.cu), where the slots of a partition, its window, fit shared memory. A
// block reads its window from memory in order, does the partition's elements there, and changes write the window back
// (windows.cu; look-ups: windows-find.cu).
//
// Bindings: keys, values, as sorted; ends, the place behind each partition's last element; isNew, found, in the sorted
// order (may be null). The grid has a block for each of the 2^BITS partitions, of 512 threads and with shared memory for
// the largest window, ceil(SLOTS / 2^BITS) slots, and behind it what the kernel says. Both parts begin at multiples of 16
// bytes.
//
// A window ends where the next one's first home slot is. Some elements go to `list`, for the direct kernel of the
// operation, which runs next, and looks them up from their home slots on: those whose probe sequence reaches the window's
// end, keys of side slots, and those of a partition behind its first MOST, which keeps one block from working on a hot key
// alone. `control.listed` counts them. Results are those of the direct kernel alone: whatever it meets in a window it could
// have met there, since a key goes to a free slot of its sequence that no other is before, and slots do not become empty.
//
// Blocks change no slots of others.
#pragma once
#include "home-bytes.cuh"
#include "results.cuh"

namespace warpmap {

/// Elements or slots of a thread that are loaded at once.
constexpr u32 LOADS_AT_ONCE = 4;

WARPMAP_DEVICE u32 alignedTo16(u32 bytes) { return (bytes + 15) / 16 * 16; }

/// A partition: its elements and, in shared memory, its slots. Slots are counted from the window's first.
template <int K, int V> struct SharedWindow {
  using T = Table<K, V>;
  using Slots = typename T::Slots;
  using Word = typename T::Word;

  /// Probes of a step.
  static constexpr u32 PROBES = 8;

  /// An element on its way through the slots.
  struct Walk {
    typename T::Key key;
    typename T::Value value;
    u32 slot, home;
    /// Of an insert: the key was looked up, and is not there.
    bool isPutting;

    WARPMAP_DEVICE u32 steps() const { return slot - home + 1; }
    WARPMAP_DEVICE bool isFar() const { return steps() > 32; }
  };
  struct Element {
    typename T::Key key;
    typename T::Value value;
  };

  unsigned char* memory;
  /// The window in the table.
  unsigned char* origin;
  u32 firstSlot, slots;
  /// The partition's elements; this block has those before `firstLeft`.
  u32 firstElement, firstLeft, endElement;
  /// What takes a hash to its partition.
  u32 shift;
  u32* left;
  u32* listed;

  template <class Arguments>
  WARPMAP_DEVICE SharedWindow(const T& table, const Arguments& a, unsigned char* memory) : memory(memory), shift(32 - a.BITS) {
    const u32 p = blockIdx.x;
    const u32* ends = (const u32*)a.ends.at;
    firstElement = p == 0 ? 0 : ends[p - 1];
    endElement = ends[p];
    firstLeft = endElement - firstElement > a.MOST ? firstElement + a.MOST : endElement;
    firstSlot = homeSlot(p << shift, table.slotCount());
    const u32 endSlot = p + 1 == gridDim.x ? table.slotCount() : homeSlot((p + 1) << shift, table.slotCount());
    slots = endSlot - firstSlot;
    origin = table.at(firstSlot);
    left = (u32*)a.list.at;
    listed = &table.control().listed;
  }

  WARPMAP_DEVICE bool hasElements() const { return firstElement < endElement; }
  WARPMAP_DEVICE unsigned char* at(u32 slot) const { return memory + slot * Slots::BYTES; }
  WARPMAP_DEVICE Word look(u32 slot) const { return *(const volatile Word*)at(slot); }

  /// Has a column of the elements come to L2 while slots are read.
  WARPMAP_DEVICE void prefetch(const Range& column, u32 bytes) const {
    const u64 end = u64(firstLeft) * bytes;
    for (u64 at = u64(firstElement) * bytes + threadIdx.x * 128; at < end; at += WINDOW_BLOCK * 128) prefetchLine(column.at + at);
  }
  WARPMAP_DEVICE void read() const {
    for (u32 slot = threadIdx.x; slot < slots; slot += WINDOW_BLOCK) {
      copyToShared<Slots::BYTES>(at(slot), origin + slot * Slots::BYTES);
    }
    awaitCopies();
    __syncthreads();
  }
  WARPMAP_DEVICE void fill() const {
    const u32 parts = alignedTo16(slots * Slots::BYTES) / 16;
    for (u32 i = threadIdx.x; i < parts; i += WINDOW_BLOCK) ((uint4*)memory)[i] = uint4{~0u, ~0u, ~0u, ~0u};
    __syncthreads();
  }
  /// Empties the slots that share 16 bytes with those behind the window.
  WARPMAP_DEVICE void fillBehind() const {
    const u32 bytes = slots * Slots::BYTES;
    if (threadIdx.x < (alignedTo16(bytes) - bytes) / 4) ((u32*)(memory + bytes))[threadIdx.x] = ~0u;
  }
  WARPMAP_DEVICE void write() const {
    using Part = typename WordsOf<Slots::BYTES == 4 ? 1 : 2>::Type;
    __syncthreads();
#pragma unroll 4
    for (u32 i = threadIdx.x; i < slots * (Slots::BYTES / sizeof(Part)); i += WINDOW_BLOCK) ((Part*)origin)[i] = ((Part*)memory)[i];
  }

  /// Puts the elements on the list that are not for this block.
  WARPMAP_DEVICE void leave() const { leave(firstLeft); }
  WARPMAP_DEVICE void leave(u32 firstLeft) const {
    if (firstLeft == endElement) return;
    __shared__ u32 room;
    if (threadIdx.x == 0) room = atomicAdd(listed, endElement - firstLeft);
    __syncthreads();
    for (u32 i = firstLeft + threadIdx.x; i < endElement; i += WINDOW_BLOCK) left[room + i - firstLeft] = i;
  }

  /// Puts an element on the list.
  WARPMAP_DEVICE void list(u32 i) const { left[atomicAdd(listed, 1u)] = i; }
  /// The home slot of the key of an entry; of one in another partition, whose last home slot may be this one's first, a
  /// place behind the window.
  WARPMAP_DEVICE u32 homeOfEntry(const T& table, const typename T::Key& key) const {
    const u32 hash = table.hash(key);
    return hash >> shift == blockIdx.x ? homeSlot(hash, table.slotCount()) - firstSlot : slots;
  }
  /// The home slot of a key of the partition; of one that is not for this block, a place behind the window.
  WARPMAP_DEVICE u32 homeOf(const T& table, const typename T::Key& key) const { return table.probe(key).slot - firstSlot; }
  /// Begins an element; false if it goes to the list.
  WARPMAP_DEVICE bool start(const T& table, const Element& element, u32 i, Walk& walk) const {
    walk.key = element.key;
    walk.value = element.value;
    walk.slot = walk.home = homeOf(table, element.key);
    walk.isPutting = false;
    if (walk.home < slots) return true;
    list(i);
    return false;
  }
  WARPMAP_DEVICE static bool holds(Word word, const Walk& walk) { return Slots::mayHold(word, walk.key); }

  /// A step of the insert of a key that is not in the window: at the first slot that is free, or, where an equal key came
  /// in meanwhile, as `change` says. True at the end. The walk may end behind the window.
  template <class Change> WARPMAP_DEVICE bool put(Walk& walk, const Change& change, Outcome& outcome) const {
    for (u32 probe = 0; probe < PROBES; probe++) {
      outcome = Outcome::REJECTED;
      if (walk.slot >= slots) return true;
      Word word = look(walk.slot);
      if (Slots::isEmpty(word) || Slots::isTombstone(word)) {
        const Word old = Slots::claimShared(at(walk.slot), word, walk.key, walk.value);
        outcome = Slots::isTombstone(word) ? Outcome::REUSED : Outcome::INSERTED;
        if (old == word) return true;
        word = old;
      }
      if (Slots::isReserved(word)) return false;
      if (holds(word, walk)) {
        change(at(walk.slot), word);
        outcome = Outcome::EXISTING;
        return true;
      }
      walk.slot++;
    }
    return false;
  }
  /// A step of a search. True at the end, with the place; of a walk that ends behind the window, that is behind it.
  WARPMAP_DEVICE bool search(Walk& walk, u32 reach, typename T::Place& place) const {
    for (u32 probe = 0; probe < PROBES; probe++) {
      place = {walk.slot, 0, false};
      if (walk.slot >= slots) return true;
      const Word word = look(walk.slot);
      place = {walk.slot, word, holds(word, walk)};
      if (place.isThere || Slots::isEmpty(word) || walk.steps() >= reach) return true;
      walk.slot++;
    }
    return false;
  }
  /// Takes the walk of one lane on, past slots that have other keys. All threads of the warp call it.
  WARPMAP_DEVICE void skip(Walk& walk, u32 lane, u32 reach, bool takesFree) const {
    const auto key = __shfl_sync(ALL_LANES, walk.key, lane);
    const u32 home = __shfl_sync(ALL_LANES, walk.home, lane), from = __shfl_sync(ALL_LANES, walk.slot, lane);
    const bool isFree = __shfl_sync(ALL_LANES, u32(takesFree), lane);
    u32 stops = 0, row = from;
    for (;; row += 32) {
      const u32 slot = row + threadIdx.x % 32;
      bool isStop = slot >= slots || slot - home + 1 >= reach;
      if (!isStop) {
        const Word word = look(slot);
        isStop = Slots::isEmpty(word) || Slots::mayHold(word, key) ||
                 (isFree && (Slots::isTombstone(word) || Slots::isReserved(word)));
      }
      stops = __ballot_sync(ALL_LANES, isStop);
      if (stops != 0) break;
    }
    if (threadIdx.x % 32 == lane) walk.slot = row + u32(__ffs(int(stops)) - 1);
  }
};

/// Goes through the numbers from `first` to `end` that are this thread's, some at once: fetch(i) loads what
/// visit(i, fetched) needs. The threads of a warp begin each visit together.
template <class Fetch, class Visit>
WARPMAP_DEVICE void eachAtOnce(u32 first, u32 end, const Fetch& fetch, const Visit& visit) {
  const u32 lane = threadIdx.x % 32;
  for (u32 i = first + threadIdx.x; i - lane < end; i += LOADS_AT_ONCE * WINDOW_BLOCK) {
    decltype(fetch(0)) fetched[LOADS_AT_ONCE];
#pragma unroll
    for (u32 k = 0; k < LOADS_AT_ONCE; k++) {
      if (i + k * WINDOW_BLOCK < end) fetched[k] = fetch(i + k * WINDOW_BLOCK);
    }
#pragma unroll
    for (u32 k = 0; k < LOADS_AT_ONCE; k++) {
      if (i + k * WINDOW_BLOCK < end) visit(i + k * WINDOW_BLOCK, fetched[k]);
      __syncwarp();
    }
  }
}

}  // namespace warpmap

/// Defines the kernel of an operation for each slot format, operationWindow<K, V>(a); `blocks` of its blocks are on a
/// multiprocessor at once, where shared memory has room for them.
#define WARPMAP_KERNEL_OF_WINDOWS(operation, blocks, K, V)                                              \
  WARPMAP_KERNEL(windows_##operation##_##K##_##V, windows_##operation##_arguments, 512, blocks) {       \
    warpmap::operation##Window<K, V>(a);                                                                \
  }
#define WARPMAP_KERNELS_OF_WINDOWS(operation, blocks)   \
  WARPMAP_KERNEL_OF_WINDOWS(operation, blocks, 1, 0)    \
  WARPMAP_KERNEL_OF_WINDOWS(operation, blocks, 1, 1)    \
  WARPMAP_KERNEL_OF_WINDOWS(operation, blocks, 2, 0)    \
  WARPMAP_KERNEL_OF_WINDOWS(operation, blocks, 1, 2)    \
  WARPMAP_KERNEL_OF_WINDOWS(operation, blocks, 2, 1)    \
  WARPMAP_KERNEL_OF_WINDOWS(operation, blocks, 2, 2)
