/**
 * warpmap/wgsl: look keys up in a live map or set from your own WebGPU kernels. A module is WGSL text to put
 * in front of your shader, and the bind group entries that connect it to the table.
 *
 * | at a glance | |
 * |---|---|
 * | functions | `NAME_find(key) -> NAME_Result { found: bool, value }`, `NAME_contains(key) -> bool`; NAME is an option |
 * | types | those of the table: u32, i32 or f32; tables with u64 keys or values are refused. Every key is usable; f32 keys are equal as in JavaScript's Map |
 * | bindings | two read-only storage buffers, next to each other in one bind group |
 * | stages | compute, vertex, fragment; no barriers, no subgroups, no extensions, any WebGPU implementation |
 * | cost per key | expected O(1): one random memory access at load factor 0.5 |
 * | ends | always: a probe is never longer than the table's longest probe, read from the table itself |
 * | table size | one binding at most (maxStorageBufferBindingSize: 2 GiB on most GPUs); larger tables are a LimitError |
 * | sees | all calls on the table that were awaited before your submission |
 *
 * The code stays the same for as long as the table lives. The buffers do not: `rehash` makes new ones, and so may `reserve`,
 * `shrinkToFit`, and all calls that insert into (`merge` too) or erase from a DynamicMap or DynamicSet. Call `entries()` again and make a new bind group after each of them. There are
 * no functions that change a table: its size is counted on the host.
 */

import type { Container } from "../containers/container.js";
import type { DynamicMap } from "../containers/dynamic-map.js";
import type { DynamicSet } from "../containers/dynamic-set.js";
import type { StaticMap } from "../containers/static-map.js";
import type { StaticSet } from "../containers/static-set.js";
import type { KeyType, ValueType } from "../engine/element-types.js";
import type { TableSpec } from "../engine/layout.js";
import { isWide, slotFormat, tableBytes } from "../engine/slot-format.js";
import { STAGE_COMPUTE } from "../engine/webgpu/device/gpu-flags.js";
import { bindingLine, constantLines } from "../engine/webgpu/device/kernel-source.js";
import { MAX_PROBE_WORD } from "../engine/webgpu/table/control.js";
import { probingCode, readingCode } from "../engine/webgpu/table/slot-code.js";
import { LimitError, ValidationError } from "../errors.js";
import { checkOptions, checkWhole, describe } from "../options.js";
import { prefixNames } from "./compose.js";
import find from "./find.wgsl";

/** Where a module goes in your shader. */
export interface ModuleOptions {
  /** Prefix of everything the code declares: a WGSL name. Default `map`, or `set` for sets. */
  name?: string;
  /** Bind group of both bindings. Default 1, which leaves group 0 to you. */
  group?: number;
  /** Number of the first binding; the second one is the next number. Default 0. */
  binding?: number;
  /** Stages that see the bindings in `layoutEntries`: GPUShaderStage bits. Default GPUShaderStage.COMPUTE. */
  visibility?: number;
}

/** Functions on one table for your own shaders. */
export interface TableModule {
  /** WGSL to put in front of your shader, or behind it. It stays valid for as long as the table lives. */
  readonly code: string;
  /** The bind group that `entries` belong to. */
  readonly group: number;
  /** For createBindGroupLayout. Pipelines with `layout: "auto"` do not need them. */
  readonly layoutEntries: GPUBindGroupLayoutEntry[];
  /**
   * For createBindGroup, together with entries of your own if you have some in that group. After a rehash of the table
   * they are others: a bind group made of the old ones is refused on submission.
   * @throws ValidationError when the table was destroyed, LimitError when it has become larger than one binding.
   */
  entries(): GPUBindGroupEntry[];
}

/**
 * The module of a map.
 * @throws ValidationError when the map was destroyed, is not on a GPU, or has u64 keys or values; LimitError when it is larger than one binding.
 * @example
 * ```js
 * import { openDevice, StaticMap } from "warpmap";
 * import { mapModule } from "warpmap/wgsl";
 *
 * const device = await openDevice({ backend: "webgpu" });
 * const prices = await StaticMap.create(device, { key: "u32", value: "f32", capacity: 1000 });
 * await prices.insert(Uint32Array.of(11, 12, 13), Float32Array.of(1.5, 20, 0.25));
 *
 * const price = mapModule(prices, { name: "price" });
 * const code = `
 *   @group(0) @binding(0) var<storage, read> articles: array<u32>;
 *   @group(0) @binding(1) var<storage, read_write> result: array<f32>;
 *
 *   @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
 *     if (id.x >= arrayLength(&articles)) { return; }
 *     let found = price_find(articles[id.x]);
 *     result[id.x] = select(-1.0, found.value, found.found);
 *   }`;
 *
 * const gpu = device.gpuDevice;
 * const module = gpu.createShaderModule({ code: price.code + code });
 * const pipeline = gpu.createComputePipeline({ layout: "auto", compute: { module } });
 * const articles = await device.upload(Uint32Array.of(13, 11, 99, 12));
 * const result = await device.allocate("f32", articles.length);
 *
 * const encoder = gpu.createCommandEncoder();
 * const pass = encoder.beginComputePass();
 * pass.setPipeline(pipeline);
 * const mine = [articles, result].map(({ buffer, length }, binding) => ({ binding, resource: { buffer, size: length * 4 } }));
 * pass.setBindGroup(0, gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: mine }));
 * const entries = price.entries();
 * pass.setBindGroup(1, gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(1), entries }));
 * pass.dispatchWorkgroups(Math.ceil(articles.length / 64));
 * pass.end();
 * gpu.queue.submit([encoder.finish()]);
 *
 * console.log(await result.read()); // Float32Array [0.25, 1.5, -1, 20]
 * ```
 */
export function mapModule<K extends KeyType, V extends ValueType>(
  map: StaticMap<K, V> | DynamicMap<K, V>,
  options: ModuleOptions = {},
): TableModule {
  return tableModule(map, "map", options);
}

/**
 * The module of a set, as {@link mapModule}. `find` answers the stored key as its value.
 * @throws ValidationError when the set was destroyed, is not on a GPU, or has u64 keys; LimitError when it is larger than one binding.
 * @example
 * ```js
 * const module = setModule(set, { name: "seen" });
 * const code = `${module.code}
 *   fn isNew(key: u32) -> bool { return !seen_contains(key); }`;
 * ```
 */
export function setModule<K extends KeyType>(
  set: StaticSet<K> | DynamicSet<K>,
  options: ModuleOptions = {},
): TableModule {
  return tableModule(set, "set", options);
}

function tableModule(
  container: Container<KeyType, ValueType>,
  defaultName: string,
  options: ModuleOptions,
): TableModule {
  checkOptions(options, "name group binding visibility");
  const { name = defaultName, group = 1, binding = 0, visibility = STAGE_COMPUTE } = options;
  checkName(name);
  checkWhole("group", group);
  checkWhole("binding", binding);
  checkWhole("visibility", visibility);
  // a container keeps its types, its hash function and its engine for life
  const { spec } = gpuTable(container);
  if (isWide(slotFormat(spec))) {
    throw new ValidationError(
      "Kernels look up keys and values of 32 bits, and this table has wider ones.",
      'Use find or contains with output "device", and give your kernel their results.',
    );
  }
  return {
    code: tableCode(spec, name, group, binding),
    group,
    layoutEntries: [binding, binding + 1].map((number) => ({
      binding: number,
      visibility,
      buffer: { type: "read-only-storage" },
    })),
    entries() {
      const { gpu, bytes } = gpuTable(container);
      return [
        { binding, resource: { buffer: gpu.slots, size: bytes } },
        { binding: binding + 1, resource: { buffer: gpu.control } },
      ];
    },
  };
}

/** The table's code; slot count and longest probe are not in it, since they change. */
function tableCode(spec: TableSpec, name: string, group: number, binding: number): string {
  const types = `alias KeyType = ${spec.key};\nalias ValueType = ${spec.value ?? spec.key};`;
  const parts = [
    types,
    constantLines({ MAX_PROBE_WORD }),
    bindingLine(group, binding, "read", "table", "array<Slot>"),
    bindingLine(group, binding + 1, "read", "control", "array<u32>"),
    probingCode(spec),
    readingCode(slotFormat(spec)),
    find,
  ];
  return prefixNames(parts.join("\n"), name);
}

function gpuTable(container: Container<KeyType, ValueType>) {
  if (!container?.engineTable) {
    throw new ValidationError(
      `The first argument is ${describe(container)}, not a map or a set.`,
      "Give a map or a set of warpmap.",
    );
  }
  const { gpu, spec } = container.engineTable;
  if (gpu === undefined) {
    throw new ValidationError(
      "This table is not on a GPU, and WGSL runs nowhere else.",
      'Create it on a device opened with { backend: "webgpu" }.',
    );
  }
  const bytes = tableBytes(spec);
  if (bytes > gpu.maxBinding) {
    throw new LimitError(
      "maxStorageBufferBindingSize",
      bytes,
      gpu.maxBinding,
      "Your kernel binds the table in one piece: use a smaller capacity, a higher maxLoadFactor, or several tables.",
    );
  }
  return { gpu, spec, bytes };
}

function checkName(name: unknown): void {
  if (typeof name === "string" && /^[A-Za-z][A-Za-z0-9_]*$/.test(name)) return;
  throw new ValidationError(
    `name is ${JSON.stringify(name)}.`,
    "Give a WGSL name: an ASCII letter, then letters, digits and underscores.",
  );
}
