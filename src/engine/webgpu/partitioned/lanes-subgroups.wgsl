// Subgroup operations for the scans. The first fragment of its module, since it enables them.
enable subgroups;

struct Lanes {
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) size: u32,
}
