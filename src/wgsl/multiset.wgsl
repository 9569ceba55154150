// find for users' own kernels on multisets, whose entries are the key. A fragment after multi.wgsl.

fn find(key: KeyType) -> Result {
  if (!contains(key)) { return Result(); }
  return Result(true, bitcast<ValueType>(bitsOf(key)));
}
