// self-test: each invocation fills words of workgroup memory, and adds up others.

var<workgroup> memory: array<u32, WORDS>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
  for (var word = local; word < WORDS; word += WORKGROUP) { memory[word] = word + 1u; }
  workgroupBarrier();
  var sum = 0u;
  for (var word = local; word < WORDS; word += WORKGROUP) { sum += memory[WORDS - 1u - word]; }
  results[local] = sum;
}
