/**
 * Calls that answer all entries of some keys, or of all: lists are laid out one after another (multi-index.ts), and
 * their entries written to results as a whole or in pieces.
 */
import type { CallOptions, ColumnInput, Engine, Output, Placement } from "../engine/engine.js";
import type { BasicType, ScalarElement, ScalarType } from "../engine/scalars.js";
import type { Expanded, Wanted } from "../engine/value-lists.js";
import { checkBoolean, checkWhole } from "../options.js";
import {
  type BulkOptions,
  checkBulkOptions,
  checkCallOptions,
  checkColumn,
  checkMissingElement,
  type IntoOption,
  type OutputOption,
  type Placed,
  type ProgressOptions,
} from "./arguments.js";
import type { Calls } from "./calls.js";
import type { Located, MultiIndex } from "./multi-index.js";
import { answered, checkRoom, destination, placed } from "./results.js";
import { Stages } from "./stages.js";

/** Options of calls that answer all entries of keys. V is the type of what is written for absent ones. */
export interface RetrieveOptions<P extends Placement, V extends BasicType>
  extends BulkOptions,
    OutputOption<P> {
  /**
   * A key that is not there, and that `mask` does not leave out, has one entry in the result, `missing`: an outer join.
   * Default false.
   */
  outer?: boolean;
  /** What is written for absent keys, with `outer`: a bigint for u64. Default 0. */
  missing?: ScalarElement<V>;
}

/** Options of `retrieveChunks`. */
export interface RetrieveChunksOptions<V extends BasicType>
  extends Omit<RetrieveOptions<"host", V>, "output"> {
  /** Entries of each piece. Default 2^20. */
  chunk?: number;
}

/** Entries of a piece, unless told. */
const CHUNK = 2 ** 20;

/** Reads the entries of keys for a multimap or a multiset. @internal */
export class EntryReader<K extends BasicType, V extends BasicType> {
  constructor(
    private readonly engine: Engine,
    private readonly index: MultiIndex<K, V>,
    private readonly calls: Calls<K>,
  ) {}

  /**
   * All entries of keys, with offsets if `inCsr`, else with the number of its key for each. Of multisets the entries
   * are keys.
   */
  async retrieve<P extends Placement>(
    keys: ColumnInput<K>,
    options: RetrieveOptions<P, V>,
    inCsr: boolean,
  ): Promise<{ offsets: Placed<"u32", P>; queries: Placed<"u32", P>; entries: Placed<V, P> }> {
    const { call, outer, missing } = this.#check(keys, options, " output outer missing");
    const { output = "host" } = options;
    const retrieve = async () => {
      const stages = new Stages(call, keys.length, 2);
      const located = await this.#locate(keys, { outer, to: output }, { ...call, ...stages.next() });
      let keepsOffsets = false;
      try {
        const wanted = this.#wanted(located, !inCsr);
        const range = { first: 0, count: located.matches.total };
        const results = await located.lists.expand(
          located.matches,
          range,
          wanted,
          missing,
          output,
          stages.next(),
        );
        const { offsets } = located.matches;
        const answer = {
          ...results,
          offsets: inCsr && output === "host" ? await offsets.storage.read(0, offsets.length) : offsets,
        };
        keepsOffsets = inCsr && output === "device";
        stages.finish();
        return answer;
      } finally {
        located.free(keepsOffsets);
      }
    };
    const { offsets, queries, keys: k, values } = await this.calls.run(retrieve, [keys], call);
    return answered(call, {
      offsets: offsets as Placed<"u32", P>,
      queries: queries as Placed<"u32", P>,
      entries: (values ?? k) as Placed<V, P>,
    });
  }

  /** The same in pieces, with the number of its key for each entry. */
  async *retrievePieces(
    keys: ColumnInput<K>,
    { chunk, ...options }: RetrieveChunksOptions<V>,
  ): AsyncGenerator<{ queries: Uint32Array; entries: Placed<V, "host"> }, void, undefined> {
    if (chunk !== undefined) checkWhole("chunk", chunk, 1);
    const { call, outer, missing } = this.#check(keys, options, " outer missing");
    const locate = () => this.#locate(keys, { outer, to: "host" }, call);
    const located = await this.calls.run(locate, [keys], call);
    const wanted = this.#wanted(located, true);
    for await (const { queries, keys: k, values } of this.#pieces(
      located,
      chunk,
      wanted,
      missing,
      call.signal,
    )) {
      yield { queries: queries as Uint32Array, entries: (values ?? k) as Placed<V, "host"> };
    }
  }

  /** All entries in pieces. */
  async *allPieces(
    chunk: number | undefined,
  ): AsyncGenerator<{ keys: Placed<K, "host">; values: Placed<V, "host"> }, void, undefined> {
    const located = await this.calls.run(() => this.index.locateAll("host", {}));
    const wanted = { keys: located.keys, values: this.index.types.value !== null };
    for await (const { keys, values } of this.#pieces(located, chunk, wanted, 0)) {
      yield { keys: keys as Placed<K, "host">, values: values as Placed<V, "host"> };
    }
  }

  /** All entries. */
  async retrieveAll<P extends Placement>(
    options: ProgressOptions & OutputOption<P> & IntoOption<object>,
  ): Promise<{ keys: Placed<K, P>; values: Placed<V, P> }> {
    const call = checkCallOptions(options, " output into");
    const { key, value } = this.index.types;
    const types: Record<string, ScalarType> = { keys: key, ...(value !== null && { values: value }) };
    // how many entries there will be is known when the call's turn comes
    const to = destination(this.engine, options, 0, types);
    let length = 0;
    const retrieve = async () => {
      length = this.index.size;
      checkRoom(to, length);
      const stages = new Stages(call, length, 2);
      const located = await this.index.locateAll(to, { ...call, ...stages.next() });
      try {
        const range = { first: 0, count: length };
        const wanted = { keys: located.keys, values: value !== null };
        const results = await located.lists.expand(located.matches, range, wanted, 0, to, stages.next());
        stages.finish();
        return results;
      } finally {
        located.free();
      }
    };
    const { keys, values } = await this.calls.run(retrieve, [], call, to);
    return answered(call, {
      keys: placed<K, P>(keys as Output<K>, length),
      values: placed<V, P>(values as Output<V>, length),
    });
  }

  /**
   * Pieces of what was laid out, each as a call of its own: the container may change between two of them. Frees it in
   * the end.
   */
  async *#pieces(
    { lists, matches, free }: Located<K, V>,
    chunk = CHUNK,
    wanted: Wanted<K>,
    missing: number | bigint,
    signal?: AbortSignal,
  ): AsyncGenerator<Expanded<K, V>, void, undefined> {
    const { total } = matches;
    try {
      for (let first = 0; first < total; first += chunk) {
        const range = { first, count: Math.min(chunk, total - first) };
        yield await this.calls.run(() => lists.expand(matches, range, wanted, missing, "host", { signal }));
      }
    } finally {
      free();
    }
  }

  #check(
    keys: ColumnInput<K>,
    options: RetrieveOptions<Placement, V>,
    more: " output outer missing" | " outer missing",
  ) {
    checkColumn(this.engine, "keys", this.index.types.key, keys);
    const call = checkBulkOptions(this.engine, keys, options, more);
    const { outer = false } = options;
    checkBoolean("outer", outer);
    return { call, outer, missing: checkMissingElement(this.index.resultType, options.missing) };
  }

  /** Lays the entries of keys out; of multisets with the keys, which are the entries. */
  async #locate(
    keys: ColumnInput<K>,
    options: { readonly outer: boolean; readonly to: Placement },
    call: CallOptions,
  ): Promise<Located<K, V>> {
    if (this.index.types.value !== null) return this.index.locate(keys, options, call);
    const { column, free } = await this.index.onDevice(this.index.types.key, keys);
    try {
      const located = await this.index.locate(column, options, call);
      const freeAll = (keepsOffsets?: boolean) => {
        located.free(keepsOffsets);
        free();
      };
      return { ...located, keys: column, free: freeAll };
    } catch (error) {
      free();
      throw error;
    }
  }

  #wanted({ keys }: Located<K, V>, queries: boolean): Wanted<K> {
    return { queries, keys, values: this.index.types.value !== null };
  }
}
