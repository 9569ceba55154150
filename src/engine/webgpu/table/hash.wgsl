// What every table's hashing is made of: the arithmetic of engine/hash.ts, bit for bit. A fragment: no bindings, no
// entry point. hash-code.ts makes the functions hashKey and hashWords of it.

fn murmur3(key: u32) -> u32 {
  var h = key;
  h = (h ^ (h >> 16u)) * 0x85ebca6bu;
  h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
  return h ^ (h >> 16u);
}

/// The upper 32 bits of a × b, from 16-bit halves: WGSL has no wide product.
fn multiplyHigh(a: u32, b: u32) -> u32 {
  let a0 = a & 0xffffu;
  let a1 = a >> 16u;
  let b0 = b & 0xffffu;
  let b1 = b >> 16u;
  let low = a1 * b0 + ((a0 * b0) >> 16u);
  let middle = (low & 0xffffu) + a0 * b1;
  return a1 * b1 + (low >> 16u) + (middle >> 16u);
}
