// Deliberate faults: what a plausible wrong implementation would do, and the tests that must catch it. scripts/mutants.mjs applies
// them one at a time; test/scripts/mutants.test.ts checks that each still matches its file exactly once.
//
// A fault: { name, what: the fault in a few words, file, find: text that is there exactly once, replace, project, tests: files }.
import { cpuFaults } from "./cpu.mjs";
import { sketchFaults } from "./sketches.mjs";
import { tableFaults } from "./tables.mjs";
import { webgpuFaults } from "./webgpu.mjs";

export const faults = [...cpuFaults, ...webgpuFaults, ...tableFaults, ...sketchFaults];

/** A file's text with a fault in it. Throws unless the fault matches exactly once. */
export function withFault({ name, file, find, replace }, text) {
  const matches = text.split(find).length - 1;
  if (matches !== 1)
    throw new Error(`${name}: its text is ${matches} times in ${file}, and must be there once.`);
  return text.replace(find, () => replace);
}
