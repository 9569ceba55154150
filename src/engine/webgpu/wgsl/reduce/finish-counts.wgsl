// finish-counts: counts as 64-bit integers, in the order of the groups. 256 invocations a workgroup, one group each.
// Bytes per group: 4 read, 4 read at random, 8 written.

fn onElement(place: u32) {
  finished[2u * place] = states[order[place] * params.stride];
  finished[2u * place + 1u] = 0u;
}
