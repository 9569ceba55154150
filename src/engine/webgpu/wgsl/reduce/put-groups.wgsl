// put-groups: lists the groups, and their first rows, in the order of these, of groups that sort-groups has brought
// near to their places. 256 invocations a workgroup, one group each: a group owns its place. Bytes per group: 12 read,
// 8 written.

fn onElement(at: u32) {
  let item = sorted[at];
  order[item.x] = sortedGroups[at];
  firsts[item.x] = item.y;
}
