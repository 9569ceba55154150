/**
 * warpmap/wgsl: a live map, set, multimap or multiset in your own WebGPU kernels. A module is WGSL text to put in front
 * of your shader, and the bind group entries that connect it to the table.
 *
 * | at a glance | |
 * |---|---|
 * | reading | `PREFIX_find(key) -> PREFIX_Result { found: bool, value }`, `PREFIX_contains(key) -> bool` |
 * | changing, with `access: "read_write"` | maps: `PREFIX_insert(key, value)`, `PREFIX_insertOrAssign(key, value)` of 32-bit values, `PREFIX_insertOrAdd(key, value)` of all but f64; sets: `PREFIX_insert(key)`. All answer `PREFIX_INSERTED`, `PREFIX_EXISTING` or `PREFIX_FULL`. `PREFIX_erase(key) -> bool` |
 * | multimaps and multisets | are only read: `PREFIX_count(key) -> u32`, `PREFIX_contains`, `PREFIX_find`. All values of a multimap's key: `PREFIX_first(key)` and `PREFIX_next(entry)`, each `{ found, value }`; or by number, `PREFIX_matches(key) { length }` and `PREFIX_valueAt(matches, i)` |
 * | types | those of the table; those of 64 bits are `vec2u`, the low word first; composites are refused. Every key is usable; float keys are equal as in JavaScript's Map |
 * | in one dispatch | any of the functions, by any invocations: what they answer about keys is what some order of the calls would answer. Values: see docs/own-kernels.md |
 * | full table | `PREFIX_FULL`, and nothing was changed: none of the 8,192 slots from the key's home on is free (in smaller tables: no slot). What kernels erase is free again after an insert or a rehash by the host |
 * | size | exact after `await module.sync()`, and after any awaited call on the table |
 * | bindings | two storage buffers (of multisets three, of multimaps five), next to each other in one bind group; read-only unless the kernel changes the table |
 * | stages | compute, vertex (reading only), fragment; no barriers, no subgroups, no extensions, any WebGPU implementation |
 * | cost per key | expected O(1): one random memory access at load factor 0.5 |
 * | ends | always: probes are bounded by the table's longest probe, and by constants |
 * | table size | one binding at most (maxStorageBufferBindingSize: 2 GiB on most GPUs); larger tables are a LimitError |
 * | sees | all calls on the table that were awaited before your submission |
 *
 * The code stays the same for as long as the table lives, unless `rehash` gives a table without a seed its first one.
 * The buffers do not: `rehash` makes new ones, and so may `reserve`, `shrinkToFit`, and all calls that insert into
 * (`merge` too) or erase from a DynamicMap or DynamicSet, and all that change a multimap or multiset and their
 * `retrieveKeys`. Call `entries()` again and make a new bind group after each of them. Await the calls on a table
 * before you submit a kernel that changes it.
 */
import type { DynamicMap } from "../containers/dynamic-map.js";
import type { DynamicSet } from "../containers/dynamic-set.js";
import type { StaticMap } from "../containers/static-map.js";
import type { StaticMultimap } from "../containers/static-multimap.js";
import type { StaticMultiset } from "../containers/static-multiset.js";
import type { StaticSet } from "../containers/static-set.js";
import type { KeyType, ValueType } from "../engine/element-types.js";
import type { BasicType } from "../engine/scalars.js";
import { STAGE_COMPUTE } from "../engine/webgpu/device/gpu-flags.js";
import { lend, takeKernelChanges } from "../engine/webgpu/table/kernel-changes.js";
import type { TableState } from "../engine/webgpu/table/table-state.js";
import { ValidationError } from "../errors.js";
import { checkOneOf, checkOptions, checkWhole } from "../options.js";
import { type AnyContainer, moduleTable } from "./module-table.js";
import { type ListsOf, moduleText } from "./module-text.js";

/** What a kernel does with a table. */
export type ModuleAccess = "read" | "read_write";

/** Where a module goes in your shader, and what the shader does. */
export interface ModuleOptions {
  /** Of everything the code declares, with an underscore behind it: a WGSL name. Default `map`, or `set` for sets. */
  prefix?: string;
  /** Whether the kernel changes the table. Default `read`. */
  access?: ModuleAccess;
  /** Bind group of all bindings. Default 1, which leaves group 0 to you. */
  group?: number;
  /** Number of the first binding; the others have the next numbers. Default 0. */
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
  /**
   * Brings the container's `size` up to date, after kernels that were submitted before have changed the table. Each
   * call on the container does so by itself, too. Costs one round trip to the GPU.
   */
  sync(): Promise<void>;
}

/** What a module is made for. */
type ModuleContainer<K extends KeyType, V extends ValueType> =
  | StaticMap<K, V>
  | DynamicMap<K, V>
  | StaticSet<K>
  | DynamicSet<K>;

/**
 * Functions on a map or a set for your own shaders. `find` of a set answers the stored key as its value.
 * @throws ValidationError when the table was destroyed or is not on a GPU; LimitError when it is larger than one
 * binding.
 * @example
 * ```js
 * import { openDevice, StaticMap } from "warpmap";
 * import { tableModule } from "warpmap/wgsl";
 *
 * const device = await openDevice({ backend: "webgpu" });
 * const prices = await StaticMap.create(device, { key: "u32", value: "f32", capacity: 1000 });
 * await prices.insert(Uint32Array.of(11, 12, 13), Float32Array.of(1.5, 20, 0.25));
 *
 * const price = tableModule(prices, { prefix: "price" });
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
 * const encoder = gpu.createCommandEncoder(); const pass = encoder.beginComputePass(); pass.setPipeline(pipeline);
 * const mine = [articles, result].map(({ buffer, length }, binding) => ({ binding, resource: { buffer, size: length * 4
 * } })); pass.setBindGroup(0, gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: mine })); const
 * entries = price.entries(); pass.setBindGroup(1, gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(1), entries
 * })); pass.dispatchWorkgroups(Math.ceil(articles.length / 64)); pass.end(); gpu.queue.submit([encoder.finish()]);
 *
 * console.log(await result.read()); // Float32Array [0.25, 1.5, -1, 20]
 * ```
 */
export function tableModule<K extends KeyType, V extends ValueType>(
  container: ModuleContainer<K, V>,
  options?: ModuleOptions,
): TableModule;
/** Functions on a multimap or a multiset for your own shaders, which read it. */
export function tableModule<K extends BasicType, V extends BasicType>(
  container: StaticMultimap<K, V> | StaticMultiset<K>,
  options?: ModuleOptions,
): TableModule;
export function tableModule(given: object, options: ModuleOptions = {}): TableModule {
  checkOptions(options, "prefix access group binding visibility");
  const container = given as AnyContainer;
  // a container keeps its types, its hash function and its engine for life
  const { spec, lists, buffers, interop } = moduleTable(container);
  const isSet = (lists ?? spec).value === null;
  const { prefix = isSet ? "set" : "map", access = "read" } = options;
  const { group = 1, binding = 0, visibility = STAGE_COMPUTE } = options;
  checkPrefix(prefix);
  checkOneOf("access", access, ["read", "read_write"]);
  checkWhole("group", group);
  checkWhole("binding", binding);
  checkWhole("visibility", visibility);
  // rehash may change the seed
  const isSeeded = Boolean(spec.seed);
  const changes = access === "read_write";
  if (changes) checkChangeable(lists);
  const takeIn = changes
    ? container.expectKernels?.(async (table) =>
        takeKernelChanges(interop.tableOf(table).state as TableState),
      )
    : undefined;
  return {
    code: moduleText(spec, lists, { prefix, access, group, binding }),
    group,
    layoutEntries: buffers.map((_, i) => ({
      binding: binding + i,
      visibility,
      buffer: { type: changes ? "storage" : "read-only-storage" },
    })),
    entries() {
      const { spec, buffers, state } = moduleTable(container);
      if (Boolean(spec.seed) !== isSeeded) {
        throw new ValidationError(
          `The module is for a table ${isSeeded ? "with" : "without"} a seed, and rehash has ${isSeeded ? "taken it away" : "given it one"}.`,
          "Make the module again, and your pipelines.",
        );
      }
      if (changes) lend(state);
      return buffers.map((resource, i) => ({ binding: binding + i, resource }));
    },
    sync: takeIn ?? (async () => {}),
  };
}

function checkChangeable(lists: ListsOf | null): void {
  if (!lists) return;
  throw new ValidationError(
    "Kernels only read multimaps and multisets: an insert makes room in the lists of all keys of a batch together, in several dispatches.",
    'Use access "read". Have your kernel write keys and values into device arrays, and give them to insert.',
  );
}

function checkPrefix(prefix: unknown): void {
  if (typeof prefix === "string" && /^[A-Za-z][A-Za-z0-9_]*$/.test(prefix)) return;
  throw new ValidationError(
    `prefix is ${JSON.stringify(prefix)}.`,
    "Give a WGSL name: an ASCII letter, then letters, digits and underscores.",
  );
}
