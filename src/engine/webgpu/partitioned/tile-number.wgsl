// Numbers of the tiles that refine cuts parts into. A fragment for modules with TILE.

/// Of a tile that begins at `first`, in a part that starts at `start`: no two tiles have the same, and there are as many as there are
/// tiles in all parts together, and one more for each part.
fn tileNumber(part: u32, start: u32, first: u32) -> u32 { return start / TILE + part + (first - start) / TILE; }
