// Faults of sketches. scripts/mutants/index.mjs says what the fields are.

const filter = { project: "cpu", tests: ["test/conformance/bloom-filter.test.ts"] };
const counter = { project: "cpu", tests: ["test/conformance/hyperloglog.test.ts"] };
const filterGpu = { ...filter, project: "webgpu" };
const counterGpu = { ...counter, project: "webgpu" };
const estimates = { project: "cpu", tests: ["test/sketches/estimate.test.ts"] };
const JOBS = "src/engine/cpu/sketches/sketch-jobs.ts";
const KERNELS = "src/engine/webgpu/wgsl/sketches";

export const sketchFaults = [
  {
    name: "sketch-mask-bit-not-byte",
    what: "a mask byte counts by its lowest bit",
    file: JOBS,
    find: "(where[from + i] + 255) >>> 8",
    replace: "where[from + i] & 1",
    ...filter,
  },
  {
    name: "sketch-range-loses-its-last-key",
    what: "the last key of each range sets no bits",
    file: JOBS,
    find: "i < end; i++) setBits",
    replace: "i < end - 1; i++) setBits",
    ...filter,
  },
  {
    name: "sketch-merge-overwrites",
    what: "an intersection keeps what either has",
    file: "src/engine/cpu/sketches/cpu-filter.ts",
    find: "a[i] &= b[i]",
    replace: "a[i] |= b[i]",
    ...filter,
  },
  {
    name: "sketch-canonical-floats",
    what: "f32 keys are hashed as they are",
    file: "src/engine/sketch-format.ts",
    find: "float ? canonicalF32(words[i]) : words[i]",
    replace: "words[i]",
    ...filterGpu,
  },
  {
    name: "sketch-rank-by-first-word",
    what: "the second word of the hash is not looked at",
    file: `${KERNELS}/registers-add.wgsl`,
    find: "if (rest == 0u) {",
    replace: "if (false) {",
    ...counterGpu,
  },
  {
    name: "sketch-gpu-upper-half",
    what: "contains looks at half a block",
    file: `${KERNELS}/filter-contains.wgsl`,
    find: " && all((upper[item] & high) == high)",
    replace: "",
    ...filterGpu,
  },
  {
    name: "sketch-gpu-lost-exchange",
    what: "a register is not tried again when another one of its word was raised",
    file: `${KERNELS}/registers-add.wgsl`,
    find: "    if (exchange.exchanged) { return; }\n",
    replace: "    return;\n",
    ...counterGpu,
  },
  {
    name: "sketch-threads-last-wins",
    what: "a thread's registers replace those of others",
    file: "src/engine/cpu/sketches/cpu-registers.ts",
    find: "if (other[i] > registers[i]) registers[i] = other[i];",
    replace: "registers[i] = other[i];",
    ...counter,
  },
  {
    name: "sketch-no-small-range",
    what: "empty registers are not corrected for",
    file: "src/sketches/estimate.ts",
    find: "  z += count * sigma(held[0] / count);\n",
    replace: "  z += held[0];\n",
    ...estimates,
  },
];
