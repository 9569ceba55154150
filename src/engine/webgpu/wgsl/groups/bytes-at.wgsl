// Four bytes of the binding `bytes` from any byte position, little-endian. A fragment.

fn bytesAt(position: u32) -> u32 {
  let word = position / 4u;
  let shift = position % 4u * 8u;
  if (shift == 0u) { return bytes[word]; }
  return (bytes[word] >> shift) | (bytes[word + 1u] << (32u - shift));
}
