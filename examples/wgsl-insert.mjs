// Change a table from a kernel of your own: merge a cloud of points into voxels, and count the points of each, in one dispatch.
//
//   node examples/wgsl-insert.mjs
//   npm run with-software-gpu -- node examples/wgsl-insert.mjs --software       without a GPU
//
// Each invocation computes its point's voxel and adds 1 to that voxel's count in a StaticMap on the GPU. The points are those of
// a low-discrepancy sequence on the surface of a torus; none of them, and no list of voxels, is sorted or brought to the host.
import { openDevice, StaticMap } from "warpmap";
import { tableModule } from "warpmap/wgsl";

const POINTS = 200_000;
/** Voxels a side of the cube that holds all points: 7 bits each. */
const GRID = 128;

const device = await openDevice({ backend: "webgpu", software: process.argv.includes("--software") });
console.log(device.info.reason);

const points = new Float32Array(4 * POINTS);
for (let i = 0; i < POINTS; i++) {
  // the powers of the plastic number's inverse: "R2" of Roberts 2018
  const [ring, tube] = [0.7548776662466927, 0.5698402909980532].map((step) => 2 * Math.PI * ((i * step) % 1));
  const out = 0.7 + 0.25 * Math.cos(tube);
  points.set([out * Math.cos(ring), out * Math.sin(ring), 0.25 * Math.sin(tube), 1], 4 * i);
}
const cloud = await device.upload(points);
const counts = await StaticMap.create(device, { key: "u32", value: "u32", capacity: POINTS });

const voxels = tableModule(counts, { prefix: "voxels", access: "read_write" });
const code = `${voxels.code}
  @group(0) @binding(0) var<storage, read> cloud: array<vec4f>;

  @compute @workgroup_size(64)
  fn main(@builtin(global_invocation_id) id: vec3u) {
    if (id.x >= arrayLength(&cloud)) { return; }
    let cell = vec3u((cloud[id.x].xyz + 1.0) * ${GRID / 2}.0);
    // as many slots as points: never voxels_FULL
    _ = voxels_insertOrAdd(cell.x | (cell.y << 7u) | (cell.z << 14u), 1u);
  }
`;

const gpu = device.gpuDevice;
const pipeline = await gpu.createComputePipelineAsync({
  layout: "auto",
  compute: { module: gpu.createShaderModule({ code }) },
});
const encoder = gpu.createCommandEncoder();
const pass = encoder.beginComputePass();
pass.setPipeline(pipeline);
const mine = [{ binding: 0, resource: { buffer: cloud.buffer, size: 16 * POINTS } }];
pass.setBindGroup(0, gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: mine }));
const table = { layout: pipeline.getBindGroupLayout(voxels.group), entries: voxels.entries() };
pass.setBindGroup(voxels.group, gpu.createBindGroup(table));
pass.dispatchWorkgroups(Math.ceil(POINTS / 64));
pass.end();
gpu.queue.submit([encoder.finish()]);

await voxels.sync();
const { keys, values } = await counts.retrieveAll();
const fullest = values.reduce((most, count) => Math.max(most, count), 0);
console.log(`${POINTS} points lie in ${counts.size} voxels; the fullest has ${fullest}`);

const expected = new Map();
for (let i = 0; i < POINTS; i++) {
  const [x, y, z] = [0, 1, 2].map((k) =>
    Math.trunc(Math.fround(Math.fround(points[4 * i + k] + 1) * (GRID / 2))),
  );
  const key = x | (y << 7) | (z << 14);
  expected.set(key, (expected.get(key) ?? 0) + 1);
}
if (counts.size !== expected.size || keys.some((key, i) => values[i] !== expected.get(key)))
  throw new Error("the kernel's counts differ from those counted here");
device.destroy();
