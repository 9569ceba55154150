// In place of lanes-subgroups.wgsl on devices without subgroup operations.
struct Lanes {
  @builtin(local_invocation_id) id: vec3u,
}
