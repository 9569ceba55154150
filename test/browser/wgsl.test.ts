/** The tests of warpmap/wgsl once more, on the browser's WebGPU. */
import "../wgsl/changing.test.js";
import "../wgsl/multi.test.js";
import "../wgsl/wgsl.test.js";
