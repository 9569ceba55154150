// narrow-keys: how far keys of two words are above the least one, where that fits a word. A fragment after
// key-place.wgsl and each-element.wgsl. 256 invocations a workgroup, one row each; what lies under a null becomes any
// word. Bytes per row: 8 read, 4 written.

fn onElement(row: u32) {
  narrowed[row] = keys[row * KEY_WORDS] - params.lowest;
}
