// Rows on their way into the order of their parts: a part has the rows whose mixed keys have its number as their upper
// params.partBits bits. What lies in GPU memory is in two arrays: mixed key and row number, or what goes along in its
// place, beside each other, and (VALUED) another word. A fragment.

/// `partStarts` has where the rows of each of 2^(params.partBits + params.fineBits) finer parts begin: here that of one
/// of 2^bits parts.
fn startOf(part: u32, bits: u32) -> u32 { return partStarts[part << (params.partBits + params.fineBits - bits)]; }
