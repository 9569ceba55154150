// Subgroup operations for the scans. A fragment of modules that enable them.

struct Lanes {
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) size: u32,
}
