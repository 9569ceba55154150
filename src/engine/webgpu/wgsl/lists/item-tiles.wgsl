// Items by page, and the tiles that workgroups of a grid (x, page) take: `tile` neighbouring items of one page. A
// fragment.

/// Items of an invocation whose loads are under way at once.
const EACH: u32 = 4u;

/// A page's items begin here: at pageRoom for each page before it, or where `ranges` says.
fn beginOf(page: u32) -> u32 {
  if (params.pageRoom > 0u) { return page * params.pageRoom; }
  return ranges[page];
}

fn endOf(page: u32) -> u32 {
  if (params.pageRoom > 0u) { return page * params.pageRoom + min(ranges[page], params.pageRoom); }
  return ranges[page + 1u];
}

/// No two tiles have one number. Pages with room of their own are a tile each.
fn tileNumber(page: u32, first: u32) -> u32 {
  if (params.pageRoom > 0u) { return page; }
  let begin = beginOf(page);
  return begin / params.tile + page + (first - begin) / params.tile;
}

/// An item's place: its group within the tile and how many of that came before it, or ALONE and the number of a group
/// that it is all of.
const GROUP_BITS: u32 = 11u;
const GROUP_MASK: u32 = 0x7ffu;
const ALONE: u32 = 0x80000000u;
