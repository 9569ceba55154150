// check-hash: the hashes of keys. A fragment after hash.wgsl and the code of hash-code.ts, for modules with KEY_WORDS
// and hashOf. 64 invocations a workgroup, one key each. Owns its hash.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.count) { hashes[id.x] = hashOf(id.x * KEY_WORDS); }
}
