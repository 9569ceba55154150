// page-lookup: finds the keys of numbered items, page by page.
//
// A workgroup loads the key words of its page into workgroup memory and walks there, four slots a step; values are read
// from the table, which the caches still hold. Writes each item's answer at its number: the value, and 1 when found.
// A walk that reaches the page's end leaves its item to the direct kernels. Nothing may write the table in the same dispatch.
// Bytes per slot: 8 read (sets: 4); per item 8 read, 8 written and 4 read of a value.

override WORKGROUP: u32 = 512u;
override QUADS: u32 = PAGE / 4u;

@group(0) @binding(2) var<storage, read> table: array<Slot>;
@group(0) @binding(4) var<storage, read> items: array<Item>;
@group(0) @binding(5) var<storage, read_write> answers: array<vec2u>;

var<workgroup> page: array<vec4u, QUADS>;
var<private> mine: Page;

/// Answers an item, or leaves it.
fn answer(item: Item) {
  let key = itemKey(item);
  let home = homeOf(key) - mine.slot;
  if (key >= TOMBSTONE) {
    spill(item);
    return;
  }
  // of the first four slots those before the home do not count
  var skip = home % 4u;
  for (var quad = home / 4u; quad < QUADS; quad++) {
    let words = page[quad];
    let after = vec4u(0u, 1u, 2u, 3u) >= vec4u(skip);
    let equal = (words == vec4u(key)) & after;
    if (any(equal)) {
      let slot = quad * 4u + select(select(select(3u, 2u, equal.z), 1u, equal.y), 0u, equal.x);
      answers[itemValue(item)] = vec2u(valueWord(table[mine.at + slot], key), 1u);
      return;
    }
    if (any((words == vec4u(EMPTY)) & after)) {
      answers[itemValue(item)] = vec2u(params.fill, 0u);
      return;
    }
    skip = 0u;
  }
  spill(item);
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  mine = pageOf(workgroup, workgroups);
  for (var quad = local; quad < QUADS; quad += WORKGROUP) {
    // slots beyond the table's end are taken by a key that nobody looks for
    var words = vec4u(TOMBSTONE);
    let slot = quad * 4u;
    if (slot + 4u <= mine.slots) {
      let at = mine.at + slot;
      words = vec4u(keyWord(table[at]), keyWord(table[at + 1u]), keyWord(table[at + 2u]), keyWord(table[at + 3u]));
    } else {
      for (var i = 0u; i < 4u; i++) {
        if (slot + i < mine.slots) { words[i] = keyWord(table[mine.at + slot + i]); }
      }
    }
    page[quad] = words;
  }
  workgroupBarrier();
  for (var at = local; at < mine.items; at += WORKGROUP) { answer(items[mine.first + at]); }
}
