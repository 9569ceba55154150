// fill: writes one word all over a binding. 256 invocations a workgroup, grid-stride; 4 bytes written per word.

override WORD: u32 = 0xffffffffu;

@group(0) @binding(0) var<storage, read_write> words: array<vec4u>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let stride = workgroups.x * 256u;
  for (var i = id.x; i < arrayLength(&words); i += stride) { words[i] = vec4u(WORD); }
}
