/** The tests of warpmap/wgsl once more, on the browser's WebGPU. */
import "../webgpu/wgsl.test.js";
