// Look keys up from a kernel of your own: what a list of orders costs, with the prices in a StaticMap on the GPU.
//
//   node examples/wgsl-find.mjs
//   npm run with-software-gpu -- node examples/wgsl-find.mjs --software       without a GPU
//
// One dispatch reads a million orders, finds each article's price in the map and multiplies. No price leaves the GPU, and
// none is copied into an array by article number first: the article numbers are any 32-bit numbers.
import { openDevice, StaticMap } from "warpmap";
import { tableModule } from "warpmap/wgsl";

const ARTICLES = 100_000;
const ORDERS = 1_000_000;

const device = await openDevice({ backend: "webgpu", software: process.argv.includes("--software") });
console.log(device.info.reason);

// article numbers are scattered over all 32-bit numbers; every article costs 0.25 to 250
const numberOf = (article) => Math.imul(article, 0x9e3779b1) >>> 0;
const priceOf = (article) => (1 + (article % 1000)) / 4;
const articles = Array.from({ length: ARTICLES }, (_, i) => i);
const prices = await StaticMap.create(device, { key: "u32", value: "f32", capacity: ARTICLES });
await prices.insert(Uint32Array.from(articles, numberOf), Float32Array.from(articles, priceOf));

// every hundredth order is for an article that does not exist
const ordered = Array.from({ length: ORDERS }, (_, i) =>
  i % 100 === 0 ? ARTICLES + i : (i * 7919) % ARTICLES,
);
const article = await device.upload(Uint32Array.from(ordered, numberOf));
const quantity = await device.upload(Uint32Array.from(ordered, (_, i) => 1 + (i % 3)));
const cost = await device.allocate("f32", ORDERS);

const module = tableModule(prices, { prefix: "price" });
const code = `${module.code}
  @group(0) @binding(0) var<storage, read> article: array<u32>;
  @group(0) @binding(1) var<storage, read> quantity: array<u32>;
  @group(0) @binding(2) var<storage, read_write> cost: array<f32>;

  @compute @workgroup_size(64)
  fn main(@builtin(global_invocation_id) id: vec3u) {
    let order = id.x;
    if (order >= arrayLength(&article)) { return; }
    let price = price_find(article[order]);
    cost[order] = select(-1.0, price.value * f32(quantity[order]), price.found);
  }
`;

const gpu = device.gpuDevice;
const pipeline = await gpu.createComputePipelineAsync({
  layout: "auto",
  compute: { module: gpu.createShaderModule({ code }) },
});
const columns = [article, quantity, cost].map(({ buffer, length }, binding) => ({
  binding,
  resource: { buffer, size: length * 4 },
}));

const encoder = gpu.createCommandEncoder();
const pass = encoder.beginComputePass();
pass.setPipeline(pipeline);
pass.setBindGroup(0, gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: columns }));
// entries() anew after every prices.rehash(): the table is then in another buffer
const table = { layout: pipeline.getBindGroupLayout(module.group), entries: module.entries() };
pass.setBindGroup(module.group, gpu.createBindGroup(table));
pass.dispatchWorkgroups(Math.ceil(ORDERS / 64));
pass.end();
gpu.queue.submit([encoder.finish()]);

const costs = await cost.read();
const unknown = costs.filter((c) => c < 0).length;
const total = costs.reduce((sum, c) => sum + Math.max(c, 0), 0);
console.log(`${ORDERS} orders cost ${total}; ${unknown} are for articles that do not exist`);

const expected = ordered.map((a, i) => (a < ARTICLES ? priceOf(a) * (1 + (i % 3)) : -1));
if (costs.some((c, i) => c !== expected[i]))
  throw new Error("the kernel's costs differ from those counted here");
device.destroy();
