// fill: writes one word all over a binding. 256 invocations a workgroup, grid-stride; 4 bytes written per word.

@compute @workgroup_size(256)
fn main(grid: Grid, @builtin(global_invocation_id) id: vec3u) {
  let stride = grid.workgroups.x * 256u;
  for (var i = id.x; i < arrayLength(&words); i += stride) { words[i] = vec4u(WORD); }
}
