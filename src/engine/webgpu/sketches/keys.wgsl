// Keys of a sketch and their hashes: the arithmetic of engine/sketch-format.ts, bit for bit. A fragment after table/hash.wgsl, for kernels
// with the parameters of sketch-kernels.ts.

alias KeyWords = array<u32, KEY_WORDS>;

const WORKGROUP: u32 = SKETCH_WORKGROUP;

/// Number of this workgroup in a grid.
fn workgroupNumber(workgroup: vec3u, workgroups: vec3u) -> u32 { return workgroup.y * workgroups.x + workgroup.x; }

/// Whether the chunk has this element, and the mask lets it through.
fn isChosen(element: u32) -> bool { return element < params.count && isSelected(element); }

/// A key of the chunk; the last one where there are fewer, so that all loads can be under way before the first is looked at.
fn keyAt(element: u32) -> KeyWords {
  var words: KeyWords;
  let at = params.keyShift + min(element, params.count - 1u) * KEY_WORDS;
  for (var i = 0u; i < KEY_WORDS; i++) { words[i] = keys[at + i]; }
  if (KEY_F32) {
    let bits = words[0];
    words[0] = select(select(bits, 0x7fc00000u, (bits & 0x7fffffffu) > 0x7f800000u), 0u, bits == 0x80000000u);
  }
  return words;
}

fn foldWord(hash: u32, word: u32) -> u32 {
  let k = word * 0xcc9e2d51u;
  let h = hash ^ (((k << 15u) | (k >> 17u)) * 0x1b873593u);
  return ((h << 13u) | (h >> 19u)) * 5u + 0xe6546b64u;
}

/// MurmurHash3_x86_32 of the words.
fn seededHash(key: KeyWords, seed: u32) -> u32 {
  var h = seed;
  for (var i = 0u; i < KEY_WORDS; i++) { h = foldWord(h, key[i]); }
  return murmur3(h ^ (4u * KEY_WORDS));
}

/// The first word of a key's hash: that of tables.
fn firstHash(key: KeyWords) -> u32 {
  if (KEY_WORDS == 1u) { return murmur3(key[0]); }
  return seededHash(key, 0u);
}

/// The second word, from the first.
fn secondHash(key: KeyWords, first: u32) -> u32 { return seededHash(key, first); }
