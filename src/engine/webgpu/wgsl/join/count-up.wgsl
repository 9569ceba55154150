// count-up: the numbers 0, 1, 2, … 256 invocations a workgroup, one word each; 4 bytes written.

fn onElement(element: u32) {
  numbers[element] = element;
}
