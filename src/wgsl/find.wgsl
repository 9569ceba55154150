// find and contains for users' own kernels, on maps and sets. A fragment after look-up.wgsl and the type ValueType.

/// What find answers: whether the key is there, and its value; ValueType() for absent keys.
struct Result {
  found: bool,
  value: ValueType,
}

fn find(key: KeyType) -> Result {
  var value: Found;
  let found = lookUp(bitsOf(key), &value);
  return Result(found, bitcast<ValueType>(value));
}

fn contains(key: KeyType) -> bool {
  var value: Found;
  return lookUp(bitsOf(key), &value);
}
