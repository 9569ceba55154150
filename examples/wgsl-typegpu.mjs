// Sum up sales by article in a kernel of your own, with TypeGPU and warpmap on one GPUDevice.
//
//   npm install typegpu
//   node examples/wgsl-typegpu.mjs
//   npm run with-software-gpu -- node examples/wgsl-typegpu.mjs --software       without a GPU
//
// TypeGPU has the types: it writes the buffer of sales, declares their struct and the binding in WGSL, and makes the bind group. warpmap has the
// table: each invocation adds its sale's amount to its article's sum, in a StaticMap on the GPU. Amounts are whole quarters, so all
// sums are exact, in whatever order they are added.
import tgpu, { d } from "typegpu";
import { openDevice, StaticMap } from "warpmap";
import { tableModule } from "warpmap/wgsl";
import { globals } from "webgpu";

// TypeGPU looks for WebGPU's constants where browsers have them
Object.assign(globalThis, globals);

const SALES = 100_000;
const ARTICLES = 1_000;

const device = await openDevice({ backend: "webgpu", software: process.argv.includes("--software") });
console.log(device.info.reason);
const gpu = device.gpuDevice;
const root = tgpu.initFromDevice({ device: gpu });

// article numbers are scattered over all 32-bit numbers
const numberOf = (article) => Math.imul(article + 1, 0x9e3779b1) >>> 0;
const Sale = d.struct({ article: d.u32, amount: d.f32 });
const sales = Array.from({ length: SALES }, (_, i) => ({
  article: numberOf((7 * i) % ARTICLES),
  amount: (1 + (i % 40)) / 4,
}));
const layout = tgpu.bindGroupLayout({ sales: { storage: d.arrayOf(Sale) } }).$idx(0);
const buffer = root.createBuffer(d.arrayOf(Sale, SALES), sales).$usage("storage");
const group = root.createBindGroup(layout, { sales: buffer });

const sums = await StaticMap.create(device, { key: "u32", value: "f32", capacity: ARTICLES });
const revenue = tableModule(sums, { prefix: "revenue", access: "read_write", group: 1 });

const main = tgpu.resolve({
  template: `
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
      if (id.x >= ${SALES}u) { return; }
      let sale = layout.$.sales[id.x];
      // as many slots as articles and more: never revenue_FULL
      _ = revenue_insertOrAdd(sale.article, sale.amount);
    }`,
  externals: { layout },
});
const pipeline = await gpu.createComputePipelineAsync({
  layout: gpu.createPipelineLayout({
    bindGroupLayouts: [
      root.unwrap(layout),
      gpu.createBindGroupLayout({ entries: revenue.layoutEntries, label: "revenue" }),
    ],
  }),
  compute: { module: gpu.createShaderModule({ code: revenue.code + main }) },
});

const encoder = gpu.createCommandEncoder();
const pass = encoder.beginComputePass();
pass.setPipeline(pipeline);
pass.setBindGroup(0, root.unwrap(group));
const table = { layout: pipeline.getBindGroupLayout(1), entries: revenue.entries() };
pass.setBindGroup(1, gpu.createBindGroup(table));
pass.dispatchWorkgroups(Math.ceil(SALES / 64));
pass.end();
gpu.queue.submit([encoder.finish()]);

await revenue.sync();
const { keys, values } = await sums.retrieveAll();
const total = values.reduce((sum, value) => sum + value, 0);
console.log(`${SALES} sales of ${sums.size} articles brought ${total}`);

const expected = new Map();
for (const { article, amount } of sales) expected.set(article, (expected.get(article) ?? 0) + amount);
if (sums.size !== expected.size || keys.some((key, i) => values[i] !== expected.get(key)))
  throw new Error("the kernel's sums differ from those added up here");
root.destroy();
device.destroy();
