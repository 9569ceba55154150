// node --import scripts/rest-between-polls.mjs: lets the CPU rest between two looks at whether the GPU is done. Where the GPU
// is SwiftShader, both are the same cores.
//
// While anything is pending on a GPU, the package `webgpu` looks for its end in one setImmediate after the other, which takes
// a core. It asks globalThis for setImmediate each time.
const { setImmediate: immediate } = globalThis;

/** Milliseconds: a short kernel is seen at once, and a long wait, as for a compiler, costs few looks, of 50 µs each. */
const FIRST_REST = 0.05;
const LONGEST_REST = 4;
const GROWTH = 1.5;
/** Of the look that is next. The package asks for it while it looks, as long as it waits for the same things. */
let rest = FIRST_REST;
let isLooking = false;
const nobody = new Int32Array(new SharedArrayBuffer(4));

/** A look, and not what a program or its engine waits for: of these calls only the package's come from a function without a source. */
const isLook = (callback) =>
  callback.length === 0 && callback.name === "" && NATIVE.test(Function.prototype.toString.call(callback));
const NATIVE = /^function \(\) \{ \[native code\] \}$/;

const rested = (callback, ...args) => {
  if (!isLook(callback)) return immediate(callback, ...args);
  rest = isLooking ? Math.min(LONGEST_REST, rest * GROWTH) : FIRST_REST;
  return immediate(() => {
    Atomics.wait(nobody, 0, 0, rest);
    isLooking = true;
    try {
      callback(...args);
    } finally {
      isLooking = false;
    }
  });
};
// with what util.promisify looks for
globalThis.setImmediate = Object.defineProperties(rested, Object.getOwnPropertyDescriptors(immediate));
