/**
 * Warm-up: an operation on a table that only seems to be there. It takes its way through the planner and the
 * strategies, compiles the kernels that it would use, side by side, and submits nothing. So kernels are ready before
 * they are asked for, and no list says which kernels belong to which call.
 */
import type { BulkCall, CallOptions, InsertPolicy } from "../engine.js";
import { boundChunk } from "../gpu/batch/bound-chunk.js";
import { type Column, Scratch } from "../gpu/batch/columns.js";
import { BULK_CHUNK } from "../gpu/batch/large-batches.js";
import { GpuMemory } from "../gpu/memory/gpu-memory.js";
import type { GpuBuffer, GpuRuntime } from "../gpu/runtime.js";
import type { TableSpec } from "../layout.js";
import { TableKernels } from "./direct/direct-kernels.js";
import { FullTable } from "./direct/full-table.js";
import { insertAndFind } from "./direct/insert-and-find-batch.js";
import { erase, find, insert, runOperation, type Strategies } from "./operations.js";
import { type Operation, plan } from "./planner.js";
import { checkOwnWgsl } from "./table/check-hash.js";
import { type TableHost, TableState } from "./table/table-state.js";
import { cutWindows } from "./table/windows.js";

/** A table that somebody is about to have, or has. */
export interface Expected {
  readonly spec: TableSpec;
  /** Entries that it is to hold. */
  readonly entries: number;
}

/**
 * Compiles the kernels that calls with as many keys as the table is to hold will use, from host memory and from device
 * arrays. Those of the first call come first, since a driver compiles few at once.
 */
export async function warmUp(
  host: TableHost,
  { spec, entries }: Expected,
  calls: readonly BulkCall[],
  options: CallOptions,
): Promise<void> {
  await checkOwnWgsl(host, spec);
  const counts = new Set([Math.min(entries, host.hostChunk), Math.min(entries, BULK_CHUNK)]);
  for (const count of counts) {
    for (const call of calls) await new WarmUp(host).call(call, spec, count, entries, options);
  }
}

const buffer: GpuBuffer = { size: 0 };
const column: Column = { range: { buffer }, shift: 0 };

class WarmUp {
  readonly #host: TableHost;
  readonly #compiling: Promise<unknown>[] = [];

  constructor(host: TableHost) {
    this.#host = { ...host, gpu: compilingOnly(host.gpu, this.#compiling) };
  }

  /** Compiles what a call uses on a table of so many entries; an insert finds it empty. */
  async call(
    call: BulkCall,
    spec: TableSpec,
    count: number,
    entries: number,
    options: CallOptions,
  ): Promise<void> {
    const adds = call.startsWith("insert");
    const state = await this.#table(spec, adds ? 0 : entries);
    await this.#run(call, state, count, options);
    await Promise.all(this.#compiling);
  }

  async #table(spec: TableSpec, entries: number): Promise<TableState> {
    const { maxTableBinding } = this.#host;
    const sources = await TableKernels.of(spec);
    const windows = cutWindows(spec, buffer, maxTableBinding);
    return new TableState(this.#host, spec, sources, { slots: buffer, control: buffer }, windows, entries);
  }

  async #run(call: BulkCall, state: TableState, count: number, options: CallOptions): Promise<void> {
    const isMap = state.spec.value !== null;
    const values = isMap ? column : undefined;
    const results = { values: call === "contains" ? undefined : column, flags: column };
    const full = async () => new FullTable(state);
    const inserting = (policy: InsertPolicy) =>
      this.#operation(policy, insert, state, count, { values }, options, { policy, full });
    switch (call) {
      case "insert":
        return inserting("keep");
      case "insertOrAssign":
        return inserting("assign");
      case "insertAndFind": {
        const readBack = (step: (now: []) => Promise<unknown>) => step([]);
        const args = { results: { values, flags: column }, full, readBack };
        return this.#operation(call, insertAndFind, state, count, { values }, options, args);
      }
      case "erase":
        return this.#operation(call, erase, state, count, {}, options, undefined);
      default:
        return this.#operation("find", find, state, count, {}, options, {
          results,
          fill: [0, 0],
          reads: [],
        });
    }
  }

  async #operation<A, R>(
    operation: Operation,
    strategies: Strategies<A, R>,
    state: TableState,
    count: number,
    columns: { values?: Column | undefined },
    options: CallOptions,
    args: A,
  ): Promise<void> {
    const scratch = new Scratch(this.#host.gpu);
    const chunk = boundChunk({ first: 0, count }, scratch, { keys: column, ...columns }, options);
    const choice = await plan(operation, state, count, options);
    await runOperation(strategies, state, chunk, choice, args);
  }
}

/** A runtime that compiles, and notes what it compiles; it has all memory there could be, and does nothing else. */
function compilingOnly(gpu: GpuRuntime, compiling: Promise<unknown>[]): GpuRuntime {
  const nothing = async () => {};
  const guard = <T>(promise: Promise<T>) => promise;
  const checkAlive = () => gpu.checkAlive();
  const allocate = async () => buffer;
  const source = {
    maxBuffer: Number.POSITIVE_INFINITY,
    allocate,
    free() {},
    idle: nothing,
    guard,
    checkAlive,
  };
  return {
    traits: gpu.traits,
    lost: gpu.lost,
    memory: new GpuMemory(source, 0),
    compilingMs: 0,
    async compile(source, constants) {
      const compiled = gpu.compile(source, constants);
      // `call` tells, if it comes to that
      compiled.catch(() => {});
      compiling.push(compiled);
      return { source };
    },
    write() {},
    upload: nothing,
    prepareUploads: nothing,
    submit: nothing,
    begin: async () => ({ arrived: Promise.resolve() }),
    timed: async () => null,
    guard,
    checkAlive,
  };
}
