/**
 * Sketch operations, part of the seam: what `warpmap/sketches` asks of an engine. They are loaded on first use, so that
 * a page with maps only does not carry them.
 *
 * A sketch's contents are bytes that depend on the keys alone: not on the engine, the order of the keys, or how often
 * each came (sketch-format.ts). As with tables, callers keep calls on one sketch apart, and check what they give.
 */
import type { CallOptions, ColumnInput, ColumnOutput, Destination } from "./engine.js";
import type { BasicType } from "./scalars.js";

/** How a sketch takes in another one: what either has seen, or (Bloom filters) what both have. */
export type Combination = "union" | "intersection";

/** A sketch of one engine. */
export interface EngineSketch<K extends BasicType = BasicType> {
  /** Bytes of the contents. */
  readonly bytes: number;
  /** Takes keys in. After an error or an abort some of them are in. */
  add(keys: ColumnInput<K>, call: CallOptions): Promise<void>;
  /** Takes in another sketch of this engine, of the same shape. */
  combine(other: EngineSketch<K>, how: Combination): Promise<void>;
  clear(): Promise<void>;
  /** Writes the contents over `into`, which has as many bytes. */
  read(into: Uint8Array): Promise<void>;
  /** Frees the memory. Idempotent. */
  destroy(): void;
}

/** The bits of a Bloom filter. Contents: its blocks, one after another, as little-endian words. */
export interface EngineFilter<K extends BasicType = BasicType> extends EngineSketch<K> {
  /** Which keys all of whose bits are set: a byte a key, 1 or 0. Target: found. */
  contains(keys: ColumnInput<K>, output: Destination, call: CallOptions): Promise<ColumnOutput<"u8">>;
  /** Another sketch with the same contents. */
  copy(): Promise<EngineFilter<K>>;
}

/** The registers of a HyperLogLog. Contents: a byte a register. */
export interface EngineRegisters<K extends BasicType = BasicType> extends EngineSketch<K> {
  copy(): Promise<EngineRegisters<K>>;
}

/** The sketch operations of one engine. After the engine is destroyed they reject with DeviceLostError. */
export interface SketchOperations {
  /**
   * A Bloom filter of so many blocks, empty or with `contents`.
   * @throws LimitError when there is no memory for it, or it is larger than a binding
   */
  filter<K extends BasicType>(key: K, blocks: number, contents?: Uint8Array): Promise<EngineFilter<K>>;
  /** 2^precision registers, all 0 or with `contents`. @throws LimitError when there is no memory for them */
  registers<K extends BasicType>(
    key: K,
    precision: number,
    contents?: Uint8Array,
  ): Promise<EngineRegisters<K>>;
}
