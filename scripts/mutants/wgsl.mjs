// Faults of users' kernels that change a table. scripts/mutants/index.mjs says what the fields are.

const changing = { project: "webgpu-engine", tests: ["test/wgsl/changing.test.ts"] };
const pages = { project: "webgpu-partitioned", tests: ["test/engine/webgpu/partitioned/pages.test.ts"] };
const CHANGE = "src/wgsl/change.wgsl";
const multi = { project: "webgpu-engine", tests: ["test/wgsl/multi.test.ts"] };

export const wgslFaults = [
  {
    name: "wgsl-insert-takes-tombstones",
    what: "a kernel's insert takes the first tombstone",
    file: CHANGE,
    find: "    if (state != EMPTY) {\n      probe.slot",
    replace: "    if (state < TOMBSTONE) {\n      probe.slot",
    ...changing,
  },
  {
    name: "wgsl-spurious-failure-moves-on",
    what: "an insert whose compare-exchange failed goes on to the next slot",
    file: CHANGE,
    find: "    failures++;\n  }\n  return Place(0u, FULL);",
    replace:
      "    failures++;\n    probe.slot = slotAfter(probe.slot);\n    probe.step++;\n  }\n  return Place(0u, FULL);",
    ...changing,
  },
  {
    name: "wgsl-erase-counts-twice",
    what: "an erase that lost against another one says that it erased",
    file: CHANGE,
    find: "if (exchange.old != state) { return false; }",
    replace: "if (exchange.old != state) { return true; }",
    ...changing,
  },
  {
    name: "wgsl-longest-probe-stays",
    what: "a kernel's insert does not raise the longest probe",
    file: CHANGE,
    find: "if (longestProbe() <= step) {",
    replace: "if (longestProbe() > step) {",
    ...changing,
  },
  {
    name: "wgsl-side-value-stays",
    what: "a side slot keeps the value of the key that was erased",
    file: CHANGE,
    find: "  if (VALUE_WORDS > 0u) { atomicStore(&table[valueWord(slot)], EMPTY); }\n",
    replace: "",
    ...changing,
  },
  {
    name: "wgsl-host-side-value-stays",
    what: "the same where the host erased it",
    file: "src/engine/webgpu/direct/erase.wgsl",
    find: "bitcast<Word>(EMPTY)); }\n}",
    replace: "bitcast<Word>(0u)); }\n}",
    ...changing,
  },
  {
    name: "wgsl-sum-of-a-new-key",
    what: "a new key's sum starts at the value of a free slot",
    file: "src/wgsl/change-sum.wgsl",
    find: " + u32(place.outcome == INSERTED)",
    replace: "",
    ...changing,
  },
  {
    name: "wgsl-homes-still-sorted",
    what: "a table that kernels filled is taken for home-sorted",
    file: "src/engine/webgpu/table/kernel-changes.ts",
    find: "if (inserted > 0) state.homeSorted = false;",
    replace: "",
    ...changing,
  },
  {
    name: "wgsl-counts-taken-twice",
    what: "what kernels counted is taken in by each call",
    file: "src/engine/webgpu/table/kernel-changes.ts",
    find: "      encoder.clearBuffer(control, KERNEL_WORDS * 4, BYTES);\n",
    replace: "",
    ...changing,
  },
  {
    name: "wgsl-calls-take-nothing-in",
    what: "a call of the host does not look at what kernels did",
    file: "src/containers/calls.ts",
    find: "return this.before ? this.before().then(operation) : operation();",
    replace: "return operation();",
    ...changing,
  },
  {
    name: "wgsl-match-stays-in-piece",
    what: "the step over a list's values goes on before the beginning of a piece",
    file: "src/wgsl/multimap.wgsl",
    find: "if (position >= entry.pieceStart) {",
    replace: "if (position + 1u >= entry.pieceStart) {",
    ...multi,
  },
  {
    name: "wgsl-absent-key-has-list-zero",
    what: "a key that is not there has the list with the number 0",
    file: "src/wgsl/multi.wgsl",
    find: "{ return NO_LIST; }\n  return number;",
    replace: "{ return 0u; }\n  return number;",
    ...multi,
  },
  {
    name: "wgsl-page-leaves-value",
    what: "a slot that becomes EMPTY keeps its value",
    file: "src/engine/webgpu/partitioned/page-erase.wgsl",
    find: "setEmpty(mine.at + slot)",
    replace: "setState(mine.at + slot, EMPTY)",
    ...pages,
  },
];
