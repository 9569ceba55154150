// join-parts: the rows of an inner join, in any order: the key, and what goes along with the rows of either side. A
// fragment after part-table.wgsl and ../reduce/keyed-hash.wgsl.
//
// A workgroup owns a part of both sides: it puts the build rows into its table, looks the probe rows up, and takes room
// for those of a round that have a partner with one addition to control.totalLow. Part params.first is the dispatch's
// first. Bytes per build row: 8 or 12 read; per probe row as many, and those of a build row that fit the GPU's first
// cache; per row of the result its bytes written.

const ROUND: u32 = BATCH * INVOCATIONS;

/// Rows of this part so far, and where those of a round go.
var<workgroup> selected: atomic<u32>;
var<workgroup> base: u32;

/// The word of a key of one word, or the lower one of two: see ../reduce/mixed-key.wgsl. murmur3, step by step back.
fn keyWord(key: Key) -> u32 {
  var h = key.mixed;
  h = (h ^ (h >> 16u)) * 0x7ed1b41du;
  h = (h ^ (h >> 13u) ^ (h >> 26u)) * 0xa5cb9243u;
  let word = ((h ^ (h >> 16u)) - params.offset) * params.inverse;
  return select(word, word ^ keyedHash(key.upper), WIDE_KEYS);
}

fn putRow(out: u32, key: Key, probe: u32, build: u32) {
  if (KEYED) { outKeys[out * (1u + u32(WIDE_KEYS))] = keyWord(key); }
  if (KEYED && WIDE_KEYS) { outKeys[2u * out + 1u] = key.upper; }
  if (PROBE_WORDS > 0u) { outProbe[out * PROBE_WORDS] = items[probe].y; }
  if (PROBE_WORDS > 1u) { outProbe[2u * out + 1u] = probeWord(probe); }
  if (BUILD_WORDS > 0u) { outBuild[out * BUILD_WORDS] = buildItems[build].y; }
  if (BUILD_WORDS > 1u) { outBuild[2u * out + 1u] = buildWord(build); }
}

@compute @workgroup_size(INVOCATIONS)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let number = workgroupOf(grid);
  if (number >= params.count || !buildTable(number, local)) { return; }
  let rows = workgroupUniformLoad(&partRows);
  var before = 0u;
  for (var first = rows.z; first < rows.w; first += ROUND) {
    let keys = probeKeys(rowsOf(first + local, rows.w - 1u));
    let places = placesOf(keys, countOf(first + local, rows.w), rows.x);
    let found = vec4u(places != vec4u(EMPTY));
    let count = found.x + found.y + found.z + found.w;
    var rank = 0u;
    if (count > 0u) { rank = atomicAdd(&selected, count) - before; }
    workgroupBarrier();
    let taken = atomicLoad(&selected) - before;
    before += taken;
    if (local == 0u) { base = atomicAdd(&control.totalLow, taken); }
    let out = workgroupUniformLoad(&base) - params.total;
    // where all have a partner, neighbours write neighbouring rows
    let isWhole = taken == min(ROUND, rows.w - first);
    for (var i = 0u; i < BATCH; i++) {
      if (places[i] == EMPTY) { continue; }
      let at = i * INVOCATIONS + local;
      putRow(out + select(rank, at, isWhole), keyIn(keys, i), first + at, places[i]);
      rank++;
    }
  }
}
