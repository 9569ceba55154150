// count-placed: how many places have a row: fewer than rows were placed means that some are equal. The places are
// filled up to a multiple of 4. 256 invocations a workgroup, ITEMS times four places each; a workgroup adds once. Bytes
// per place: 4 read.

const ITEMS: u32 = 4u;
var<workgroup> placed: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let start = workgroupOf(grid) * WORKGROUP * ITEMS + local;
  var mine = 0u;
  for (var i = 0u; i < ITEMS; i++) {
    let at = start + i * WORKGROUP;
    if (at >= params.count) { break; }
    let taken = vec4u(rowsAt[at] != vec4u(EMPTY));
    mine += taken.x + taken.y + taken.z + taken.w;
  }
  if (mine > 0u) { atomicAdd(&placed, mine); }
  workgroupBarrier();
  let sum = atomicLoad(&placed);
  if (local == 0u && sum > 0u) { atomicAdd(&control.keysPlaced, sum); }
}
