// gather-words: values of whole words by row number; a row that is not there is 0. 256 invocations a workgroup, one
// word each. Bytes per word: 4 read in order and 4 at random, 4 written.

fn onElement(word: u32) {
  let row = rows[word / params.columnWidth];
  var value = 0u;
  if (row != EMPTY) { value = data[row * params.columnWidth + word % params.columnWidth]; }
  gathered[word] = value;
}
