// finish-validity: a bitmap of the groups that have values, in the order of the groups. 256 invocations a workgroup,
// one word of the result each. `groups` is the number of groups. Bytes per group: 4 read, 4 read at random, 1/8
// written.

fn onElement(word: u32) {
  var bits = 0u;
  for (var i = 0u; i < 32u; i++) {
    let place = word * 32u + i;
    if (place < params.groups && states[order[place] * params.stride] > 0u) { bits |= 1u << i; }
  }
  finished[word] = bits;
}
