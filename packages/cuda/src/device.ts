/**
 * warpmap-cuda/device: a live map or set in your own CUDA kernels. The package ships the device code of a table as
 * headers, for nvcc and NVRTC; `tableArguments` says what a launch is to be told of one table.
 *
 * | at a glance | |
 * |---|---|
 * | containers | StaticMap, StaticSet, DynamicMap, DynamicSet on a cuda device; any types but strings, any hash function but your own |
 * | in the kernel | `warpmap::Table<K, V> table(arguments)`: find, contains, insert, insertOrAssign, insertOrApply, erase, forEach (kernels/warpmap/table.cuh) |
 * | in one kernel | finds beside inserts, or finds beside erases; an insert beside an erase could store a key twice |
 * | full table | insert answers `Outcome::REJECTED`, and nothing was changed; kernels fill all slots, and never make a table grow |
 * | order | launches on `stream` see all earlier calls, and later calls see them; with a stream of your own, await calls before the launch, and synchronise the stream before the next call |
 * | size | exact after `await sync()`, and after any awaited call on the container |
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DynamicMap, DynamicSet, KeyType, StaticMap, StaticSet, ValueType } from "warpmap";
import { checkOneOf, checkOptions, describe, ValidationError } from "warpmap/engine";
import { native } from "./runtime/memory.js";
import { SeveralTable } from "./several/several-table.js";
import { CudaTable } from "./table/cuda-table.js";
import { constantsOf } from "./table/kernels.js";
import type { TableState } from "./table/table-state.js";

/** The folder for `nvcc -I` and for NVRTC's `--include-path`: kernels include `<warpmap/table.cuh>` of it. */
export const includePath: string = fileURLToPath(new URL("../kernels", import.meta.url));

/**
 * The headers as one text without includes, to put in front of a kernel that NVRTC compiles, in place of its
 * `#include <warpmap/table.cuh>`. For programs that have no folder of this package at run time.
 */
export function headerText(): string {
  const had = new Set<string>();
  const textOf = (name: string): string => {
    if (had.has(name)) return "";
    had.add(name);
    const text = readFileSync(new URL(`../kernels/warpmap/${name}`, import.meta.url), "utf8");
    return text
      .replace(/^#pragma once\n/m, "")
      .replace(/^#include "(\w+\.cuh)"\n/gm, (_, included: string) => textOf(included));
  };
  return textOf("table.cuh");
}

/** What a kernel does with a table. */
export interface TableArgumentsOptions {
  /** Whether kernels insert, assign or erase. Default `read`. */
  access?: "read" | "read_write";
}

/** One table for launches of your own kernels. */
export interface TableArguments {
  /** The C++ type for the table's keys and values, such as `warpmap::Table<1, 1>`; it stays for the table's life. */
  readonly type: string;
  /** The CUstream of the device, in whose order its calls run: launch on it. 0 is never one. */
  readonly stream: bigint;
  /** The device address of the slots as they are now. @throws ValidationError when the container was destroyed */
  readonly slots: bigint;
  /** The device address of the 16 words of counters behind `Table::control()`, as they are now. */
  readonly control: bigint;
  /**
   * The 64 bytes of `warpmap::TableArguments`, a kernel's parameter by value. Call it for every launch: `rehash`,
   * `reserve`, `shrinkToFit`, and calls that insert into or erase from a DynamicMap or DynamicSet may free the table
   * and make another; so await the calls on the container before.
   * @throws ValidationError when the container was destroyed
   */
  bytes(): Uint8Array<ArrayBuffer>;
  /**
   * Brings the container's `size` up to date after kernels with access `read_write`: a read of 64 bytes from the GPU.
   * Every call on the container begins with the same read from now on.
   * @throws ValidationError when the table is another one than `bytes` were last made for: kernels that were launched
   * with those bytes meanwhile have written to memory that was freed
   */
  sync(): Promise<void>;
}

/**
 * What launches of your own kernels are told of a map or a set.
 * @throws ValidationError when it is on another engine, was destroyed, or has strings or a hash function of your own
 * @example
 * ```js
 * const table = tableArguments(counts, { access: "read_write" });
 * const parameters = [table.bytes(), Uint32Array.of(views)]; // of addViews(warpmap::TableArguments, unsigned)
 * launch(addViews, { blocks, threads: 256, stream: table.stream, parameters }); // cuLaunchKernel
 * await table.sync();
 * console.log(counts.size);
 * ```
 */
export function tableArguments<K extends KeyType, V extends ValueType>(
  container: StaticMap<K, V> | StaticSet<K> | DynamicMap<K, V> | DynamicSet<K>,
  options: TableArgumentsOptions = {},
): TableArguments {
  checkOptions(options, "access");
  const { access = "read" } = options;
  checkOneOf("access", access, ["read", "read_write"]);
  const given = container as unknown as LiveContainer;
  const first = stateOf(given);
  const takeIn =
    access === "read_write"
      ? given.expectKernels?.((table) => (table as CudaTable<never, never>).native.takeKernelChanges())
      : undefined;
  let made: TableState | undefined;
  const { kind } = first.format;
  return {
    type: `warpmap::Table<${kind === "wide" ? "-1, -1" : kind.replace("_", ", ")}>`,
    stream: BigInt(first.host.gpu.context.stream),
    get slots() {
      return addressesOf(stateOf(given)).slots;
    },
    get control() {
      return addressesOf(stateOf(given)).control;
    },
    bytes() {
      made = stateOf(given);
      return bytesOf(made);
    },
    async sync() {
      if (!takeIn) return;
      await takeIn();
      if (made === undefined || made === stateOf(given)) return;
      throw new ValidationError(
        `${given} has another table than bytes() was called for: a call has grown or rebuilt it.`,
        "Call bytes() again before each launch, after the calls on the container were awaited. Insert again what kernels inserted since.",
      );
    },
  };
}

/** A container as it comes out of JavaScript, with what the package of containers keeps for engines. */
interface LiveContainer {
  readonly engineTable?: { readonly spec: { readonly key: unknown } };
  readonly engineIndex?: unknown;
  expectKernels?(take: (table: unknown) => Promise<void>): () => Promise<void>;
}

/** The table under a container now. @throws ValidationError when kernels cannot use it */
function stateOf(container: LiveContainer): TableState {
  if (container?.engineIndex !== undefined) {
    throw new ValidationError(
      `${container} is not a map or a set: the host keeps multimaps and multisets of this engine.`,
      'Use retrieve with output "device", and give your kernel its arrays.',
    );
  }
  const table = container?.engineTable;
  if (table === undefined) {
    throw new ValidationError(
      `The first argument is ${describe(container)}, not a map or a set.`,
      "Give a StaticMap, StaticSet, DynamicMap or DynamicSet of warpmap.",
    );
  }
  if (table.spec.key === "utf8") {
    throw new ValidationError(
      "Kernels look up keys of numbers, and this table has strings.",
      'Use find or contains with output "device", and give your kernel their results.',
    );
  }
  if (table instanceof SeveralTable) {
    throw new ValidationError(
      `${container} is shared by several GPUs, each of which has the slots of its own keys.`,
      "Create it on a device of one GPU.",
    );
  }
  if (!(table instanceof CudaTable)) {
    throw new ValidationError(
      `${container} is not on a cuda device.`,
      'Create it on a device of openDevice({ backend: "cuda" }); on webgpu use tableModule of warpmap/wgsl.',
    );
  }
  const state = (table as CudaTable<never, never>).native;
  if (typeof state.spec.hash !== "string") {
    throw new ValidationError(
      `The hash function of ${container} is your own, which runs in JavaScript alone.`,
      "Create it with one of the hash functions of warpmap.",
    );
  }
  return state;
}

/** Where the parts of a table are. What was shown is not kept for another table when this one is freed. */
function addressesOf({ slots, control, host }: TableState) {
  for (const buffer of [slots, control]) host.gpu.memory.share(buffer);
  return { slots: BigInt(native(slots).address), control: BigInt(native(control).address) };
}

/** TableArguments of kernels/warpmap/arguments.cuh. */
function bytesOf(state: TableState): Uint8Array<ArrayBuffer> {
  const bytes = new DataView(new ArrayBuffer(64));
  const { slots, control } = addressesOf(state);
  const memory = [slots, BigInt(state.slotsRange.size ?? 0), control, BigInt(state.control.size)];
  for (const [i, word] of memory.entries()) bytes.setBigUint64(8 * i, word, true);
  for (const [i, word] of Object.values(constantsOf(state.spec)).entries())
    bytes.setUint32(32 + 4 * i, word, true);
  return new Uint8Array(bytes.buffer);
}
