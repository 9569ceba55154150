// What dictionaries' kernels note of an element in `places`, from one dispatch to the next. A fragment.
// Below DONE: how many slots its probe has passed. DONE and more: the slot that has its string; CLAIMED and more: the
// slot that the element has claimed. The two largest numbers are no slots: a dictionary has 2^29 at most.

const DONE: u32 = 0x80000000u;
const CLAIMED: u32 = 0xc0000000u;
const SLOT_BITS: u32 = 0x3fffffffu;
/// The string has no number.
const ABSENT: u32 = 0xfffffffeu;
/// The mask leaves the element out.
const LEFT_OUT: u32 = 0xffffffffu;

fn isClaim(place: u32) -> bool { return place >= CLAIMED && place < ABSENT; }
