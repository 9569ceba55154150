// Writing of part-items.wgsl. A fragment for ../partitioned/tile.wgsl.

/// A mixed key, a row number or a word in its place, and another word.
alias Item = vec3u;

fn putItem(bin: u32, at: u32, item: Item) {
  items[at] = item.xy;
  if (VALUED) { words[at] = item.z; }
}
