// Kernels on a live StaticMap of u32 → u32, for own-kernels.mjs: page views are counted where they are made, on the GPU.
#include <warpmap/table.cuh>

using warpmap::u32;
using warpmap::u64;
using Counts = warpmap::Table<1, 1>;

/// One view of a page by each thread: adds 1 to the page's count. Views of page 0 are left out.
extern "C" __global__ void addViews(warpmap::TableArguments arguments, u32 views, u32 pages, u32* rejected) {
  const Counts counts(arguments);
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= views) return;
  const u32 scattered = i * 2654435761u;
  const u32 page = u32((u64(scattered) * scattered >> 32) * pages >> 32);
  if (page == 0) return;
  const warpmap::Outcome outcome = counts.insertOrApply(page, 1, warpmap::ADD_INTEGER);
  if (outcome == warpmap::Outcome::REJECTED) atomicAdd(rejected, 1u);
}

/// How many pages have more views than `bound`.
extern "C" __global__ void countAbove(warpmap::TableArguments arguments, u32 bound, u32* pages) {
  const Counts counts(arguments);
  counts.forEach([&](u64 slot, u64 word) {
    if (counts.valueIn(slot, word) > bound) atomicAdd(pages, 1u);
  });
}

/// Takes out the pages of a list that have `bound` views or fewer.
extern "C" __global__ void eraseRare(warpmap::TableArguments arguments, const u32* pages, u32 length, u32 bound) {
  const Counts counts(arguments);
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 views;
  if (i < length && counts.find(pages[i], views) && views <= bound) counts.erase(pages[i]);
}
