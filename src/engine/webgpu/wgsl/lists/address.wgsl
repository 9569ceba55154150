// Where the entry of a list is at a position below its length or its room.

/// The piece that a position lies in: the address of its entry, the piece's first position, and the record of the piece
/// before.
struct Piece {
  address: u32,
  start: u32,
  before: u32,
}

/// A list's pieces grow by an eighth at least, so MOST_PIECES are never reached.
fn pieceAt(place: u32, position: u32) -> Piece {
  if ((place & GROWN) == 0u) { return Piece(place + position, 0u, NO_LIST); }
  var record = place & 0x7fffffffu;
  for (var step = 0u; step < MOST_PIECES; step++) {
    let piece = records[record];
    if (position >= piece.y) { return Piece(piece.x + position - piece.y, piece.y, piece.w); }
    record = piece.w;
  }
  return Piece();
}

fn addressOf(place: u32, position: u32) -> u32 { return pieceAt(place, position).address; }
