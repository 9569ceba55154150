// Which of a dispatch's workgroups this is. In every module; values that are the same for the whole workgroup stay
// apart from those that are not, since barriers may depend on these alone.

struct Grid {
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
}

/// Number of the workgroup.
fn workgroupOf(grid: Grid) -> u32 { return grid.workgroup.y * grid.workgroups.x + grid.workgroup.x; }
