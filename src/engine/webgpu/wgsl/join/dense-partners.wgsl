// dense-partners: the build row at the place of each probe row's key, or EMPTY. A fragment after partner-placed.wgsl
// and each-element.wgsl. 256 invocations a workgroup, one row each. Bytes per row: a key read, 4 read at random, 4
// written.

fn onElement(row: u32) {
  partners[row] = partnerAt(row);
}
