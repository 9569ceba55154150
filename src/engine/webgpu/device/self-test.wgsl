// self-test: fills workgroup memory, and leaves 1 in results where an invocation reads back what the others wrote.

var<workgroup> memory: array<u32, WORDS>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
  for (var word = local; word < WORDS; word += WORKGROUP) { memory[word] = word + 1u; }
  workgroupBarrier();
  var right = true;
  for (var word = WORDS - 1u - local; word < WORDS; word -= WORKGROUP) { right = right && memory[word] == word + 1u; }
  results[local] = u32(right);
}
