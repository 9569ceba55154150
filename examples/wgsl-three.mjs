// Voxel counts of particles that three.js moves, with three.js's WebGPURenderer and warpmap on one GPUDevice.
//
//   npm install three
//   node examples/wgsl-three.mjs
//   npm run with-software-gpu -- node examples/wgsl-three.mjs --software       without a GPU
//
// three.js computes the positions in a node of its shading language, and keeps them in a storage buffer. A kernel with warpmap's functions reads
// that buffer where it is, counts the particles of each voxel in a StaticMap, and a second dispatch writes each particle's count into
// another of three.js's buffers, where its materials and compute nodes find it. No position and no count comes to the host in between.
// It renders nothing, so it runs in Node, too; on a page leave out the canvas and the constants, and render.
import { Fn, instancedArray, instanceIndex, uint, vec4 } from "three/tsl";
import { WebGPURenderer } from "three/webgpu";
import { openDevice, StaticMap } from "warpmap";
import { tableModule } from "warpmap/wgsl";
import { globals } from "webgpu";

const PARTICLES = 10_000;
/** Voxels a side. */
const GRID = 16;

// what three.js finds in browsers, and Node lacks
const frames = { requestAnimationFrame: () => 0, cancelAnimationFrame() {} };
Object.assign(globalThis, globals, frames, { self: globalThis });
const device = await openDevice({ backend: "webgpu", software: process.argv.includes("--software") });
console.log(device.info.reason);
const gpu = device.gpuDevice;
const canvas = { width: 1, height: 1, style: {}, addEventListener() {}, removeEventListener() {} };
const renderer = new WebGPURenderer({ device: gpu, canvas });
await renderer.init();

// three.js moves the particles: a lattice over the cube, in which every voxel has its share
const positions = instancedArray(PARTICLES, "vec4");
const crowd = instancedArray(PARTICLES, "uint");
const move = Fn(() => {
  const step = instanceIndex.mul(uint(2654435769));
  const part = (shift) => step.shiftRight(uint(shift)).bitAnd(uint(1023)).toFloat().div(1024);
  positions.element(instanceIndex).assign(vec4(part(22), part(12), part(2), 1));
  crowd.element(instanceIndex).assign(uint(0));
})().compute(PARTICLES);
await renderer.computeAsync(move);

const counts = await StaticMap.create(device, { key: "u32", value: "u32", capacity: GRID ** 3 });
const voxels = tableModule(counts, { prefix: "voxels", access: "read_write" });
const code = `${voxels.code}
  @group(0) @binding(0) var<storage, read> positions: array<vec4f>;
  @group(0) @binding(1) var<storage, read_write> crowd: array<u32>;

  fn voxelOf(particle: u32) -> u32 {
    let cell = vec3u(positions[particle].xyz * ${GRID}.0);
    return cell.x + ${GRID}u * (cell.y + ${GRID}u * cell.z);
  }
  @compute @workgroup_size(64) fn count(@builtin(global_invocation_id) id: vec3u) {
    // as many slots as voxels and more: never voxels_FULL
    if (id.x < ${PARTICLES}u) { _ = voxels_insertOrAdd(voxelOf(id.x), 1u); }
  }
  @compute @workgroup_size(64) fn tell(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < ${PARTICLES}u) { crowd[id.x] = voxels_find(voxelOf(id.x)).value; }
  }`;
const COMPUTE = GPUShaderStage.COMPUTE;
const layouts = [
  gpu.createBindGroupLayout({
    entries: [
      { binding: 0, visibility: COMPUTE, buffer: { type: "read-only-storage" } },
      { binding: 1, visibility: COMPUTE, buffer: { type: "storage" } },
    ],
  }),
  gpu.createBindGroupLayout({ entries: voxels.layoutEntries }),
];
const layout = gpu.createPipelineLayout({ bindGroupLayouts: layouts });
const module = gpu.createShaderModule({ code });
const pipelines = ["count", "tell"].map((entryPoint) =>
  gpu.createComputePipeline({ layout, compute: { module, entryPoint } }),
);

// the GPUBuffer under an array of three.js
const bufferOf = (array) => renderer.backend.get(array.value).buffer;
const entries = [positions, crowd].map((array, binding) => ({
  binding,
  resource: { buffer: bufferOf(array) },
}));
const encoder = gpu.createCommandEncoder();
const pass = encoder.beginComputePass();
pass.setBindGroup(0, gpu.createBindGroup({ layout: layouts[0], entries }));
pass.setBindGroup(1, gpu.createBindGroup({ layout: layouts[1], entries: voxels.entries() }));
for (const pipeline of pipelines) {
  pass.setPipeline(pipeline);
  pass.dispatchWorkgroups(Math.ceil(PARTICLES / 64));
}
pass.end();
gpu.queue.submit([encoder.finish()]);

// three.js goes on with what the kernel wrote
const double = Fn(() => {
  crowd.element(instanceIndex).assign(crowd.element(instanceIndex).mul(uint(2)));
})().compute(PARTICLES);
await renderer.computeAsync(double);

const places = new Float32Array(await renderer.getArrayBufferAsync(positions.value));
const doubled = new Uint32Array(await renderer.getArrayBufferAsync(crowd.value));
await voxels.sync();
const most = doubled.reduce((most, count) => Math.max(most, count), 0) / 2;
console.log(`${PARTICLES} particles lie in ${counts.size} voxels; the fullest has ${most}`);

const voxelOf = (i) =>
  [0, 1, 2].reduce((sum, k) => sum + Math.floor(places[4 * i + k] * GRID) * GRID ** k, 0);
const expected = new Map();
for (let i = 0; i < PARTICLES; i++) expected.set(voxelOf(i), (expected.get(voxelOf(i)) ?? 0) + 1);
if (counts.size !== expected.size || doubled.some((count, i) => count !== 2 * expected.get(voxelOf(i))))
  throw new Error("the kernel's counts differ from those counted here");
renderer.dispose();
device.destroy();
