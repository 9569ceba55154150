// node --import scripts/rest-between-polls.mjs: lets the CPU rest between two looks at whether the GPU is done. Where the GPU
// is SwiftShader, both are the same cores.
//
// While anything is pending on a GPU, the package `webgpu` looks for its end in one setImmediate after the other, which takes
// a core. It asks globalThis for setImmediate each time.
const { setImmediate: immediate } = globalThis;

/** Milliseconds: short beside a kernel on SwiftShader, and long beside a look. */
const REST = 0.3;
const nobody = new Int32Array(new SharedArrayBuffer(4));

const rested = (callback, ...args) =>
  immediate(() => {
    Atomics.wait(nobody, 0, 0, REST);
    callback(...args);
  });
// with what util.promisify looks for
globalThis.setImmediate = Object.defineProperties(rested, Object.getOwnPropertyDescriptors(immediate));
