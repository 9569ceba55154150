// list-marked: the numbers of rows that have a bit, ascending: a word's rows begin where the bits before it are
// counted. 256 invocations a workgroup, one word each, which owns its rows' places. Bytes per word: 8 read; per listed
// row 4 written.

fn onElement(word: u32) {
  var bits = marks[word];
  var at = starts[word];
  for (var i = 0u; i < 32u && bits != 0u; i++) {
    listed[at] = word * 32u + firstTrailingBit(bits);
    at++;
    bits &= bits - 1u;
  }
}
