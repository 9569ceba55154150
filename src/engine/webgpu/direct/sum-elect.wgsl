// elect: of the elements of a key one is to hold the sum. Each leaves its number in the low word of the value; the
// number that stays is the one elected. After save. A fragment after each-claim.wgsl.

fn onClaim(element: u32, word: u32) { atomicStore(&table[word + VALUE_OFFSET], element); }
