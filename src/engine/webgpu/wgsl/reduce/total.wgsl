// The sum of a group, of the states of add-values.wgsl: 96 bits in two's complement. A fragment.

/// a − b of 64 bits each; the borrow in z.
fn minus(a: vec2u, b: vec2u) -> vec3u {
  let low = a.x - b.x;
  let borrowed = u32(a.x < b.x);
  let high = a.y - b.y;
  return vec3u(low, high - borrowed, u32(a.y < b.y) + u32(high < borrowed));
}

fn totalOf(group: u32) -> vec3u {
  let at = group * params.stride;
  let sum = vec3u(states[at + 1u], states[at + 2u], states[at + 3u]);
  if (params.form == 0u) { return sum; }
  // every value was larger by half of its range
  let count = states[at];
  let low = count << 31u;
  let high = count >> 1u;
  if (params.words == 1u) {
    let less = minus(sum.xy, vec2u(low, high));
    return vec3u(less.xy, sum.z - less.z);
  }
  return vec3u(sum.x, minus(sum.yz, vec2u(low, high)).xy);
}
