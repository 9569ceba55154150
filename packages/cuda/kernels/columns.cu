// Kernels over columns, without a table. Blocks of 256, grid-stride; a thread owns the elements that it writes.
//
//   fill         one word all over a range of whole 16 bytes
//   pack, split  a column into elements of several, and back (gpu/batch/composites.ts)
//   number_rows  each element's own number
//   mark_chosen  1 for elements whose number is the one that was found for their key
#include "batch.cuh"

namespace warpmap {

template <class Visit> WARPMAP_DEVICE void eachOf(u64 count, const Visit& visit) {
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += u64(gridDim.x) * blockDim.x) visit(i);
}

}  // namespace warpmap

using namespace warpmap;

WARPMAP_KERNEL(device_fill, device_fill_arguments, 256, 8) {
  const uint4 four = {a.WORD, a.WORD, a.WORD, a.WORD};
  eachOf(a.words.bytes / 16, [&](u64 i) { ((uint4*)a.words.at)[i] = four; });
}

WARPMAP_KERNEL(batch_pack, batch_pack_arguments, 256, 8) {
  const u32* column = (const u32*)a.column.at + a.shift;
  u32* packed = (u32*)a.packed.at + a.offset;
  eachOf(a.count, [&](u64 i) {
    for (u32 w = 0; w < a.words; w++) packed[i * a.stride + w] = column[i * a.words + w];
  });
}

WARPMAP_KERNEL(batch_split, batch_split_arguments, 256, 8) {
  const u32* packed = (const u32*)a.packed.at + a.offset;
  const u8* flags = a.flags.at == nullptr ? nullptr : a.flags.at + u64(a.flagShift) * 4;
  u32* column = (u32*)a.column.at + a.shift;
  eachOf(a.count, [&](u64 i) {
    const bool isThere = !a.FLAGGED || flags[i] != 0;
    for (u32 w = 0; w < a.words; w++) {
      column[i * a.words + w] = isThere ? packed[i * a.stride + w] : w == 0 ? a.missing : a.missingHigh;
    }
  });
}

WARPMAP_KERNEL(number_rows, number_rows_arguments, 256, 8) {
  eachOf(a.COUNT, [&](u64 i) { ((u32*)a.rows.at)[i] = u32(i); });
}

WARPMAP_KERNEL(mark_chosen, mark_chosen_arguments, 256, 8) {
  eachOf(a.COUNT, [&](u64 i) { a.chosen.at[i] = isSelected(a.mask, u32(i)) && ((const u32*)a.rows.at)[i] == i; });
}
