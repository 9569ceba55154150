// partners: the leader of the build rows that each probe row equals, or EMPTY. 256 invocations a workgroup, one row
// each. Bytes per row at load 0.5: a record read, about 1.5 slots and a record compared, 4 written.

fn onElement(row: u32) {
  partners[row] = findGroup(row);
}
