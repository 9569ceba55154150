// Writing what look-ups answer: one word, see slot-code.ts. For modules with params.valueShift and .fill and the
// binding `values`.

fn missingFound() -> Found { return params.fill; }
fn writeFound(element: u32, found: Found) { values[params.valueShift + element] = found; }
