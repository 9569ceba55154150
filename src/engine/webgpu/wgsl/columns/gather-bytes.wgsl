// gather-bytes: the bytes of gathered strings. 256 invocations a workgroup, one word of the result each, so that long
// and short strings cost what their bytes cost. Bytes per word: about 4 × log2(rows) read, mostly cached; 4 to 16 read
// at random, 4 written. A fragment after row-of.wgsl.

fn onElement(word: u32) {
  let last = outStarts[params.total];
  var value = 0u;
  var end = 0u;
  var shift = 0u;
  for (var i = 0u; i < 4u; i++) {
    let position = word * 4u + i;
    if (position >= last) { break; }
    if (position >= end) {
      let out = rowOf(position);
      end = outStarts[out + 1u];
      shift = offsets[rows[out]] - outStarts[out];
    }
    let source = shift + position;
    value |= extractBits(bytes[source / 4u], source % 4u * 8u, 8u) << (i * 8u);
  }
  gathered[word] = value;
}
