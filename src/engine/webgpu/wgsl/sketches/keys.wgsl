// Keys of a sketch and their hashes: the arithmetic of engine/sketch-format.ts, bit for bit. A fragment after
// hash.wgsl, hash-wide.wgsl and float-keys.wgsl, for kernels with the parameters of sketch-kernels.ts.

alias KeyWords = array<u32, KEY_WORDS>;

/// Whether the chunk has this element, and the mask lets it through.
fn isChosen(element: u32) -> bool { return element < params.count && isSelected(element); }

/// A key of the chunk; the last one where there are fewer, so that all loads can be under way before the first is
/// looked at.
fn keyAt(element: u32) -> KeyWords {
  var words: KeyWords;
  let at = params.keyShift + min(element, params.count - 1u) * KEY_WORDS;
  for (var i = 0u; i < KEY_WORDS; i++) { words[i] = keys[at + i]; }
  if (KEY_F32) { words[0] = canonicalF32(words[0]); }
  return words;
}

/// The first word of a key's hash: that of tables.
fn firstHash(key: KeyWords) -> u32 {
  if (KEY_WORDS == 1u) { return murmur3(key[0]); }
  return murmur3Words(key, 0u);
}

/// The second word, from the first.
fn secondHash(key: KeyWords, first: u32) -> u32 { return murmur3Words(key, first); }
