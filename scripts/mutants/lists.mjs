// Faults of multimaps and multisets, and of lists by number on both engines. scripts/mutants/index.mjs says what the fields are.

const CPU = "src/engine/cpu/lists";
const GPU = "src/engine/gpu/lists";
const WGSL = "src/engine/webgpu/wgsl/lists";
const edges = ["test/conformance/multimap-edges.test.ts"];
const onCpu = { project: "cpu", tests: edges };
const onGpu = { project: "webgpu", tests: edges };
const grouped = { project: "webgpu", tests: ["test/engine/gpu/lists/group-batch.test.ts"] };

export const listFaults = [
  {
    name: "lists-begin-without-room",
    what: "lists of new keys are begun where there is no room left",
    file: "src/engine/list-counts.ts",
    find: "if (isValued && state.used + selected > state.room) return false;",
    replace: "",
    ...onCpu,
  },
  {
    name: "lists-piece-without-first",
    what: "an entry of a longer list is looked for in its last piece",
    file: `${CPU}/list-loops.ts`,
    find: "while (position < records[record + 1]) record",
    replace: "if (position < 0) record",
    ...onCpu,
  },
  {
    name: "lists-outer-without-mask",
    what: "an outer join answers keys that the mask leaves out",
    file: `${CPU}/cpu-lists.ts`,
    find: "(row: number) => mask?.[row] !== 0 : null",
    replace: "() => true : null",
    project: "cpu",
    tests: ["test/conformance/multimap-sequences.test.ts"],
  },
  {
    name: "multi-numbers-given-twice",
    what: "an insert that was aborted leaves its numbers to the next",
    file: "src/containers/multi-insert.ts",
    find: "  index.lists.take(first + selected);\n  const inserting",
    replace: "  const inserting",
    ...onCpu,
  },
  {
    name: "multi-phantoms-are-there",
    what: "contains finds keys whose pairs were all erased",
    file: "src/containers/multi-index.ts",
    find: "if (table.live === lists.filled) return table.contains(keys as Input<K>, to, call);",
    replace: "return table.contains(keys as Input<K>, to, call);",
    project: "cpu",
    tests: ["test/conformance/multimap-edges.test.ts"],
  },
  {
    name: "multi-pieces-not-held",
    what: "retrieveChunks reads lists that were cleared meanwhile",
    file: "src/containers/multi-index.ts",
    find: "  async clear(): Promise<void> {\n    if (this.lists.held) {",
    replace: "  async clear(): Promise<void> {\n    if (this.lists.entries < 0) {",
    ...onCpu,
  },
  {
    name: "lists-tally-without-base",
    what: "the elements of a workgroup are ranked as if no other had any of their list",
    file: `${WGSL}/tally.wgsl`,
    find: "rank += atomicLoad(&slotRows[slots[i]]);",
    replace: "rank += 0u;",
    ...onGpu,
  },
  {
    name: "lists-expand-kept-only",
    what: "a workgroup searches the offsets that it has room for, although more elements lie between its entries",
    file: `${WGSL}/expand.wgsl`,
    find: "let isKept = count <= KEPT;",
    replace: "let isKept = true;",
    ...onGpu,
  },
  {
    name: "multi-read-numbers-given-twice",
    what: "a multimap that was read from bytes gives new keys the numbers of those that it has",
    file: "src/engine/list-counts.ts",
    find: "filled: lists, taken: lists, used",
    replace: "filled: lists, taken: 0, used",
    project: "cpu",
    tests: ["test/conformance/multimap-bytes.test.ts"],
  },
  {
    name: "multi-bytes-of-phantoms",
    what: "toBytes writes keys that have no entries left",
    file: "src/containers/multi-bytes.ts",
    find: "if (count === 0) continue;",
    replace: "",
    project: "cpu",
    tests: ["test/conformance/multimap-bytes.test.ts"],
  },
  {
    name: "lists-laid-without-offset",
    what: "the values of a chunk of laid lists go to the beginning of the room",
    file: `${GPU}/rewrite.ts`,
    find: "[shift, chunk.first * valueWords, chunk.count",
    replace: "[shift, chunk.first, chunk.count",
    project: "webgpu",
    tests: ["test/engine/gpu/lists/lay-lists.test.ts"],
  },
  {
    name: "groups-alone-among-others",
    what: "an element that is a group of its own is looked for among its tile's groups",
    file: `${WGSL}/put-groups.wgsl`,
    find: "let isAlone = place[i] >= ALONE;",
    replace: "let isAlone = false;",
    ...grouped,
  },
  {
    name: "groups-in-one-piece",
    what: "a group whose first elements fill a list's last piece writes them to the new one",
    file: `${WGSL}/resolve-targets.wgsl`,
    find: "if (position < piece.y) {",
    replace: "if (false) {",
    ...grouped,
  },
  {
    name: "groups-of-the-empty-mark",
    what: "keys that equal the mark of an empty slot take a slot of the group's table",
    file: `${WGSL}/group-keys.wgsl`,
    find: "if (key == NO_KEY) { return SLOTS; }",
    replace: "",
    ...grouped,
  },
  {
    name: "groups-of-lost-items",
    what: "items that their page has no room for are not inserted",
    file: `${GPU}/group-batch.ts`,
    find: "if (staged.lost() || groups > room) return null;",
    replace: "if (groups > room) return null;",
    ...grouped,
  },
];
