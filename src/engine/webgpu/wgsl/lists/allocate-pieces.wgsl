// allot: makes room for the elements that a batch adds to each list, and makes them part of its length. With MEASURES
// it only sums up how much room and how many records that takes.
//
// 256 invocations a workgroup, one element each; the element with rank 0 works for its list, so each list has one
// owner. `added` holds the elements of the batch before, and the list's former length after. Bytes an element: 8 read;
// for each list 12 read and 12 written at random.

var<workgroup> wantedRoom: atomic<u32>;
var<workgroup> wantedRecords: atomic<u32>;
var<workgroup> filledHere: atomic<u32>;
var<workgroup> baseRoom: u32;
var<workgroup> baseRecords: u32;

@compute @workgroup_size(WORKGROUP)
fn main(grid: Grid, @builtin(local_invocation_index) local: u32) {
  let at = invocation(grid, local);
  var number = NO_LIST;
  if (at < params.count && ranks[params.first + at] == 0u) { number = numbers[params.numbersShift + at]; }
  var length = 0u;
  var place = 0u;
  var more = 0u;
  // positions that there is room for
  var end = 0u;
  var roomWanted = 0u;
  var recordsWanted = 0u;
  if (number != NO_LIST) {
    length = heads[number * HEAD];
    place = heads[number * HEAD + 1u];
    more = added[number];
    let isGrown = (place & GROWN) != 0u;
    end = length;
    if (isGrown) { end = records[place & 0x7fffffffu].z; }
    if (length + more > end) {
      roomWanted = max(length + more - end, end / params.growth);
      recordsWanted = select(select(2u, 0u, length == 0u), 1u, isGrown);
    }
  }
  let roomBefore = atomicAdd(&wantedRoom, roomWanted);
  let recordsBefore = atomicAdd(&wantedRecords, recordsWanted);
  if (number != NO_LIST && length == 0u) { atomicAdd(&filledHere, 1u); }
  workgroupBarrier();
  if (local == 0u) {
    baseRoom = atomicAdd(&control.room, atomicLoad(&wantedRoom));
    baseRecords = atomicAdd(&control.records, atomicLoad(&wantedRecords));
    if (!MEASURES) { atomicAdd(&control.filled, atomicLoad(&filledHere)); }
  }
  workgroupBarrier();
  if (MEASURES || number == NO_LIST) { return; }
  added[number] = length;
  heads[number * HEAD] = length + more;
  if (roomWanted == 0u) { return; }
  let address = params.base + baseRoom + roomBefore;
  if (recordsWanted == 0u) {
    heads[number * HEAD + 1u] = address;
    return;
  }
  var record = params.recordBase + baseRecords + recordsBefore;
  var before = place & 0x7fffffffu;
  if (recordsWanted == 2u) {
    records[record] = vec4u(place, 0u, length, NO_LIST);
    before = record;
    record++;
  }
  records[record] = vec4u(address, end, end + roomWanted, before);
  heads[number * HEAD + 1u] = GROWN | record;
}
