// Numbers of the tiles that sub-partition cuts partitions into. A fragment for modules with TILE.

/// Of a tile that begins at `first`, in a partition that starts at `start`: no two tiles have the same, and there are
/// as many as there are tiles in all partitions together, and one more for each partition.
fn tileNumber(partitionIndex: u32, start: u32, first: u32) -> u32 { return start / TILE + partitionIndex + (first - start) / TILE; }
