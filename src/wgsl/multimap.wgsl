// The values of a key for users' own kernels. A fragment after multi.wgsl and engine/webgpu/lists/address.wgsl, for
// modules with the binding `room` and a function storedValue(address). Bytes a value: its words, and 16 for each piece
// of the list that is gone through; lists that one insert has filled have one piece, which takes none.

/// The entries of a key: `length` of them, numbered from 0. `place` says where they are.
struct Matches {
  length: u32,
  place: u32,
}

fn matches(key: KeyType) -> Matches {
  let number = numberOf(key);
  if (number == NO_LIST) { return Matches(); }
  return Matches(heads[number * HEAD], heads[number * HEAD + 1u]);
}

/// Value `i` of a key; ValueType() from `length` on. In a list of several pieces it goes from the last piece to the one
/// with the value.
fn valueAt(all: Matches, i: u32) -> ValueType {
  if (i >= all.length) { return ValueType(); }
  return storedValue(addressOf(all.place, i));
}

fn find(key: KeyType) -> Result {
  let all = matches(key);
  return Result(all.length > 0u, valueAt(all, 0u));
}

/// An entry of a key on the way through all of them: whether there is one, and its value. The others say where the way
/// goes on: how many are left, the entry's address, the first position of its piece, and the record of the piece
/// before.
struct Match {
  found: bool,
  value: ValueType,
  left: u32,
  address: u32,
  pieceStart: u32,
  pieceBefore: u32,
}

fn matchIn(piece: Piece, position: u32) -> Match {
  return Match(true, storedValue(piece.address), position, piece.address, piece.start, piece.before);
}

/// The first entry of a key. It is the last one of the list: so each piece is come upon once.
fn first(key: KeyType) -> Match {
  let all = matches(key);
  if (all.length == 0u) { return Match(); }
  return matchIn(pieceAt(all.place, all.length - 1u), all.length - 1u);
}

/// The entry after one; not found after the last one.
fn next(entry: Match) -> Match {
  if (entry.left == 0u) { return Match(); }
  let position = entry.left - 1u;
  if (position >= entry.pieceStart) {
    return matchIn(Piece(entry.address - 1u, entry.pieceStart, entry.pieceBefore), position);
  }
  return matchIn(pieceAt(GROWN | entry.pieceBefore, position), position);
}
