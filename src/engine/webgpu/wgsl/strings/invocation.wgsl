// What all kernels of dictionaries have: the number of an invocation, and the state of slots without a string. A
// fragment.

const EMPTY: u32 = 0xffffffffu;

/// Number of an invocation over a grid of workgroups.
fn invocation(workgroup: vec3u, workgroups: vec3u, local: u32) -> u32 {
  return (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP + local;
}
