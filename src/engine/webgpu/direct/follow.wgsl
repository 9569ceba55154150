// follow: hands the elements that a dispatch has listed to LISTED dispatches that follow in the same submission, so that the host need
// not see how many there are. More than params.count, or than the list has room for, stay where they are.

@compute @workgroup_size(1)
fn main() {
  let listed = atomicLoad(&control.unfinished);
  if (listed > min(params.count, params.listRoom)) { return; }
  atomicStore(&control.followed, listed);
  atomicStore(&control.unfinished, 0u);
}
