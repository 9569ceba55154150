/** A user's kernel that changes a table: operations on keys, several an invocation. */
import type { KeyType, ValueType } from "../../../src/engine/element-types.js";
import { type Scalar, scalarWords } from "../../../src/engine/scalars.js";
import {
  type Device,
  type DeviceArray,
  type DynamicMap,
  type StaticMap,
  StaticSet,
} from "../../../src/index.js";
import { type TableModule, tableModule } from "../../../src/wgsl/index.js";
import {
  arrayEntries,
  bindGroup,
  computePipeline,
  dispatch,
  gpuOf,
} from "../../engine/webgpu/helpers/compute.js";

export const [INSERT, ERASE, CONTAINS, ASSIGN, ADD, FIND] = [0, 1, 2, 3, 4, 5];
export const [FULL, INSERTED, EXISTING] = [0, 1, 2];

/** Operations of one invocation, in its order. */
export const OPS = 4;

/** Keys or values: bit patterns. */
export type KeyColumn = Uint32Array | BigUint64Array;

type AnyTable = StaticMap<Scalar, Scalar> | DynamicMap<Scalar, Scalar> | StaticSet<Scalar>;

const isPair = (type: Scalar) => scalarWords[type] === 2;

const ONES = 0xffffffff;

/**
 * Changes a module's text such that compare-exchanges fail for no reason, two in three, others in each invocation. They take a while, so that
 * others come in between.
 */
export function failing(code: string): string {
  const weak = code.replace(
    /(fn t_compareExchange\([^)]*\)\s*->\s*t_Claim\s*\{)/,
    `var<private> calls: u32;
    $1
    calls = (calls ^ (lane * 0x9e3779b1u)) * 0x85ebca6bu + word;
    for (var i = 0u; i < calls % 64u && atomicLoad(&t_control[0]) != ${ONES}u; i++) {}
    if ((calls >> 16u) % 3u != 0u) { return t_Claim(expected, false); }`,
  );
  if (weak === code) throw new Error("nothing to fail");
  return weak;
}

/** The same, where whoever has claimed a slot is so slow to write its key that others may write it. */
export function hesitating(code: string): string {
  const slow = failing(code).replace(
    /(fn t_complete\([^)]*\)\s*->\s*u32\s*\{)/,
    `$1
    if (isMine) { for (var i = 0u; i < 20000u && atomicLoad(&t_control[0]) != ${ONES}u; i++) {} }`,
  );
  if (!slow.includes("20000u")) throw new Error("nobody to hesitate");
  return slow;
}

/** Runs operations on a table. */
export class Runner {
  private constructor(
    private readonly device: Device,
    readonly module: TableModule,
    private readonly pipeline: GPUComputePipeline,
  ) {}

  /** @param change changes the module's text */
  static async create(
    container: AnyTable | StaticMap | DynamicMap | StaticSet,
    change = (code: string) => code,
  ): Promise<Runner> {
    const { device } = container;
    const module = tableModule(container as StaticMap<KeyType, ValueType>, {
      access: "read_write",
      prefix: "t",
    });
    const key = container.keyType as Scalar;
    const value = container instanceof StaticSet ? key : ((container as StaticMap).valueType as Scalar);
    const [keys, values] = [key, value].map((type) => (isPair(type) ? "vec2u" : "u32"));
    const given = isPair(value) ? "values[i]" : `bitcast<${value}>(values[i])`;
    const ofMap = `
      case ${FIND}u: {
        let result = t_find(key);
        values[i] = bitcast<${values}>(result.value);
        answer = u32(result.found);
      }
      ${isPair(value) ? "" : `case ${ASSIGN}u: { answer = t_insertOrAssign(key, ${given}); }`}
      ${value === "f64" ? "" : `case ${ADD}u: { answer = t_insertOrAdd(key, ${given}); }`}`;
    const code = `
      @group(0) @binding(0) var<storage, read> ops: array<u32>;
      @group(0) @binding(1) var<storage, read> keys: array<${keys}>;
      @group(0) @binding(2) var<storage, read_write> values: array<${values}>;
      @group(0) @binding(3) var<storage, read_write> answers: array<u32>;
      var<private> lane: u32;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        lane = id.x;
        for (var op = 0u; op < ${OPS}u; op++) {
          let i = id.x * ${OPS}u + op;
          if (i >= arrayLength(&ops)) { return; }
          _ = arrayLength(&values);
          let key = ${isPair(key) ? "keys[i]" : `bitcast<${key}>(keys[i])`};
          var answer = 0u;
          switch ops[i] {
            case ${INSERT}u: { answer = t_insert(${container instanceof StaticSet ? "key" : `key, ${given}`}); }
            case ${ERASE}u: { answer = u32(t_erase(key)); }
            case ${CONTAINS}u: { answer = u32(t_contains(key)); }
            ${container instanceof StaticSet ? "" : ofMap}
            default: {}
          }
          answers[i] = answer;
        }
      }`;
    return new Runner(device, module, await computePipeline(gpuOf(device), change(module.code) + code));
  }

  /** What each operation answers: FIND whether it found. */
  async run(ops: Uint32Array, keys: KeyColumn, values: KeyColumn = keys): Promise<Uint32Array> {
    return (await this.#run(ops, keys, values)).answers;
  }

  /** The same operation on each key. */
  all(op: number, keys: KeyColumn, values?: KeyColumn): Promise<Uint32Array> {
    return this.run(new Uint32Array(keys.length).fill(op), keys, values);
  }

  /** The value of each key. */
  async find<C extends KeyColumn>(keys: KeyColumn, column: new (length: number) => C): Promise<C> {
    const ops = new Uint32Array(keys.length).fill(FIND);
    return (await this.#run(ops, keys, new column(keys.length))).values as C;
  }

  async #run(ops: Uint32Array, keys: KeyColumn, values: KeyColumn) {
    const { device } = this;
    using a = await device.upload(ops);
    using b = (await device.upload(keys as Uint32Array)) as DeviceArray;
    using c = await device.upload(values as Uint32Array);
    using answers = await device.allocate("u32", ops.length);
    const gpu = gpuOf(device);
    const mine = bindGroup(gpu, this.pipeline, 0, arrayEntries([a, b, c, answers] as DeviceArray[]));
    const table = bindGroup(gpu, this.pipeline, this.module.group, this.module.entries());
    await dispatch(gpu, this.pipeline, [mine, table], Math.ceil(ops.length / OPS / 64));
    return { answers: await answers.read(), values: (await c.read()) as KeyColumn };
  }
}
