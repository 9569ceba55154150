// Where the items of a tile went, two bytes for each: what scatter and sub-partition note, and results come back by. A
// fragment for modules with TILE, WORKGROUP and BINS.
//
// A tile's items lie in runs, of RUN items at most. A place is the number of its run and the place in that. The first
// run of a bin has the bin's number, its further ones have numbers from BINS on, so that any number of items in one bin
// is told exactly. A tile's record: a word for every two items (that of an invocation's item i in the lower half, of
// item i + ITEMS / 2 in the upper), and one for every run, where it lies. Bytes per item: 2, and 4 × RUNS / TILE.

const RUN_BITS: u32 = 15u - countTrailingZeros(BINS);
const RUN: u32 = 1u << RUN_BITS;
const RUNS: u32 = BINS + TILE / RUN;
const HALF: u32 = TILE / 2u;
const RECORD: u32 = HALF + RUNS;
/// The place of no item: no run has so high a number.
const NO_PLACE: u32 = 0xffffu;
