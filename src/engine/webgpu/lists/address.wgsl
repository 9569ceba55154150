// Where the entry of a list is at a position below its length or its room.

/// Address of an entry. A list's pieces grow by an eighth at least, so MOST_PIECES are never reached.
fn addressOf(place: u32, position: u32) -> u32 {
  if ((place & GROWN) == 0u) { return place + position; }
  var record = place & 0x7fffffffu;
  for (var step = 0u; step < MOST_PIECES; step++) {
    let piece = records[record];
    if (position >= piece.y) { return piece.x + position - piece.y; }
    record = piece.w;
  }
  return 0u;
}
