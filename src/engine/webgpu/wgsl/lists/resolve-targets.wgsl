// aim: where the values of each group go, after tally groups and allot. One group an invocation; owns its targets.
//
// A group's elements lie in the list's last piece, or the first of them in the piece before and the rest in that.
// `targets` is the address for element 0 as if all lay in the last piece, and how many do not: these lie from `befores`
// on. NO_LIST of them: there is no list. Bytes a group: 8 read, 12 written, 8 at random (12 more for a list of several
// pieces).

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let group = invocation(grid, local);
  if (group >= params.count) { return; }
  let number = numbers[params.numbersShift + group];
  if (number == NO_LIST) {
    targets[group] = vec2u(0u, NO_LIST);
    return;
  }
  let place = heads[number * HEAD + 1u];
  let position = added[number] + ranks[group];
  if ((place & GROWN) == 0u) {
    targets[group] = vec2u(place + position, 0u);
    return;
  }
  let piece = records[place & 0x7fffffffu];
  var short = 0u;
  if (position < piece.y) {
    short = piece.y - position;
    befores[group] = addressOf(place, position);
  }
  targets[group] = vec2u(piece.x + position - piece.y, short);
}
