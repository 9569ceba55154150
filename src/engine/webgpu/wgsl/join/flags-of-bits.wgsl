// flags-of-bits: a bitmap as bytes, 0 or 1 each, four to a word. 256 invocations a workgroup, one word each; 4 bytes
// written.

fn onElement(word: u32) {
  let bits = extractBits(validity[word / 8u], word % 8u * 4u, 4u);
  flags[word] = (bits & 1u) | ((bits & 2u) << 7u) | ((bits & 4u) << 14u) | ((bits & 8u) << 21u);
}
