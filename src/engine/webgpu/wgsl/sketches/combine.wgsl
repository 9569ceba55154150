// combine: a sketch takes in another one of its shape, word by word.
//
// 256 invocations a workgroup, grid-stride. Owns its words. 8 bytes read and 4 written per word.

@compute @workgroup_size(256)
fn main(grid: Grid, @builtin(global_invocation_id) id: vec3u) {
  let stride = grid.workgroups.x * 256u;
  for (var i = id.x; i < arrayLength(&into); i += stride) {
    let a = into[i];
    let b = other[i];
    if (HOW == 0u) { into[i] = a | b; } else if (HOW == 1u) { into[i] = a & b; } else { into[i] = max(a, b); }
  }
}
