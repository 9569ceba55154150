// count-marks: the set bits of every word, as a column to scan. 256 invocations a workgroup, one word each.
// Bytes per word: 4 read, 4 written.

fn onElement(element: u32) {
  starts[element] = countOneBits(marks[element]);
}
