// What all kernels of dictionaries have: the number of an invocation, the state of slots without a string, a finalizer. A fragment.

const EMPTY: u32 = 0xffffffffu;

/// Number of an invocation over a grid of workgroups.
fn invocation(workgroup: vec3u, workgroups: vec3u, local: u32) -> u32 {
  return (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP + local;
}

/// fmix32, the finalizer of MurmurHash3 (Appleby, public domain).
fn murmur3(word: u32) -> u32 {
  var h = word;
  h = (h ^ (h >> 16u)) * 0x85ebca6bu;
  h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
  return h ^ (h >> 16u);
}
