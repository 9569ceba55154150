// A multisplit's tile: threads × `ITEMS` items that go through shared memory into the order of their bins, so that
// neighbouring threads write neighbouring items.
//
// The tile takes `ROUNDS` rounds, each through memory for one share of it: shared memory is what limits how many blocks
// run side by side, and a long tile makes for long runs of neighbouring writes.
#pragma once
#include "../rows.cuh"

namespace warpmap::rows {

/// Items of a thread, on a GPU and on an emulated one; bins, and words of a share (gpu/tiles.ts and
/// gpu/reduce/row-tiles.ts).
constexpr u32 TILE_ITEMS = 12;
constexpr u32 EMULATED_ITEMS = 2;
constexpr u32 TILE_BINS = 1024;
constexpr u32 TILE_WORDS = 4096;
/// Threads of a block, and blocks on a multiprocessor: one alone would wait for its own loads.
#define WARPMAP_TILE_BOUNDS 512, 2
/// Stands for "no element here".
constexpr u32 NONE = 0xffffffffu;

WARPMAP_DEVICE u32* tileMemory() {
  __align__(16) __shared__ u32 memory[3 * TILE_BINS + TILE_WORDS];
  return memory;
}

/// `Module` has Item; Loaded, what an item is made of, and itemOf(loaded); binOf(item); takeRoom(bin, count), where a
/// bin's next items go; and put(bin, at, item).
template <class Module, u32 ITEMS> struct Tile {
  using Item = typename Module::Item;

  const Module& module;
  u32 rounds, bins;
  u32* counts;
  u32* starts;
  /// Where a bin's run goes, less its start in the tile.
  u32* bases;
  Item* share;

  WARPMAP_DEVICE Tile(const Module& module, u32 rounds, u32 bins) : module(module), rounds(rounds), bins(bins) {
    counts = tileMemory();
    starts = counts + TILE_BINS;
    bases = starts + TILE_BINS;
    share = (Item*)(bases + TILE_BINS);
  }

  /// Brings `count` items to their bins; load(i) is what item i of them is made of. All threads of the block call it.
  template <class Load> WARPMAP_DEVICE void split(u32 count, const Load& load) const {
    constexpr u32 BATCH = ITEMS < 4 ? ITEMS : 4;
    Item item[ITEMS];
    u32 at[ITEMS];
    for (u32 bin = threadIdx.x; bin < bins; bin += blockDim.x) counts[bin] = 0;
    __syncthreads();
#pragma unroll
    for (u32 first = 0; first < ITEMS; first += BATCH) {
      typename Module::Loaded loaded[BATCH];
#pragma unroll
      for (u32 i = 0; i < BATCH; i++) loaded[i] = load(min((first + i) * blockDim.x + threadIdx.x, count - 1));
#pragma unroll
      for (u32 i = 0; i < BATCH; i++) item[first + i] = module.itemOf(loaded[i]);
    }
#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) {
      at[i] = NONE;
      if (i * blockDim.x + threadIdx.x >= count) continue;
      // the bin in the upper half, the rank among the tile's items of that bin in the lower
      const u32 bin = module.binOf(item[i]);
      at[i] = bin << 16 | atomicAdd(counts + bin, 1u);
    }
    __syncthreads();
    placeBins();
#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) {
      if (at[i] != NONE) at[i] = starts[at[i] >> 16] + (at[i] & 0xffff);
    }
    const u32 inRound = ITEMS / rounds * blockDim.x;
    for (u32 first = 0; first < count; first += inRound) {
#pragma unroll
      for (u32 i = 0; i < ITEMS; i++) {
        if (at[i] - first < inRound) share[at[i] - first] = item[i];
      }
      __syncthreads();
      for (u32 own = threadIdx.x; own < inRound && first + own < count; own += blockDim.x) {
        const Item mine = share[own];
        const u32 bin = module.binOf(mine);
        module.put(bin, bases[bin] + first + own, mine);
      }
      __syncthreads();
    }
  }

 private:
  /// Gives every bin room in the tile and where it goes to.
  WARPMAP_DEVICE void placeBins() const {
    u32 before = 0;
    for (u32 first = 0; first < bins; first += blockDim.x) {
      const u32 bin = first + threadIdx.x;
      const u32 count = bin < bins ? counts[bin] : 0;
      const Prefix prefix = blockPrefix(count);
      if (bin < bins) starts[bin] = before + prefix.before;
      if (count > 0) bases[bin] = module.takeRoom(bin, count) - (before + prefix.before);
      before += prefix.total;
    }
    __syncthreads();
  }
};

/// A launch whose blocks take a tile each of the elements first .. first + count; module.load(element) loads one.
template <u32 ITEMS, class Module, class Arguments>
WARPMAP_DEVICE void splitInTiles(const Arguments& a, const Module& module) {
  const u64 begin = u64(blockIdx.x) * blockDim.x * ITEMS;
  if (begin >= a.params.count) return;
  const Tile<Module, ITEMS> tile(module, a.ROUNDS, a.BINS);
  const u32 count = u32(min(u64(a.params.count) - begin, u64(blockDim.x) * ITEMS));
  tile.split(count, [&](u32 i) { return module.load(a.params.first + u32(begin) + i); });
}
template <class Module, class Arguments> WARPMAP_DEVICE void splitElements(const Arguments& a, const Module& module) {
  if (a.ITEMS == TILE_ITEMS) splitInTiles<TILE_ITEMS>(a, module);
  else splitInTiles<EMULATED_ITEMS>(a, module);
}

}  // namespace warpmap::rows
