/**
 * The calls on one container: each starts when the one before has ended, in the order they were made. A call holds the
 * memory of its inputs and results until it ends. Small reading calls that wait together are made as one
 * (joined-calls.ts). Nothing here knows what a call does.
 */
import { columnsOf, type ElementType, type KeyType } from "../engine/element-types.js";
import type { ColumnInput, Destination, Input, Output } from "../engine/engine.js";
import { lazily } from "../engine/lazily.js";
import type { Scalar, ScalarArrays } from "../engine/scalars.js";
import { type ValidationError, WarpmapError } from "../errors.js";
import { detached, isPlaced } from "../options.js";
import type { Call } from "./arguments.js";
import { JoinedCalls, MOST_KEYS } from "./joined-calls.js";
import { CallQueue } from "./queue.js";
import { checkApart, discard } from "./results.js";

const loadLog = lazily(() => import("../engine/plan-log.js"));

/** What is known of a call that looks keys up. */
export interface Reading<K extends KeyType> {
  /** Its name, and arguments besides the keys. */
  readonly operation: readonly unknown[];
  readonly keys: Input<K>;
  readonly call: Call;
  readonly to: Destination;
}

export class Calls<K extends KeyType> {
  readonly #queue = new CallQueue();
  /** Reading calls at the queue's end that others may join. */
  #waiting: JoinedCalls<Scalar> | undefined;
  #ended = false;
  /** Comes before each call. */
  before: (() => Promise<void>) | undefined;

  /** @param gone the error of calls after the end */
  constructor(private readonly gone: () => ValidationError) {}

  /** True after `end`. */
  get ended(): boolean {
    return this.#ended;
  }

  /** @throws ValidationError after `end` */
  check(): void {
    if (this.#ended) throw this.gone();
  }

  /**
   * Runs an operation after all earlier calls. Pinned arrays belong to the host again before the answer comes, if no
   * other call has them.
   */
  run<T>(
    operation: () => Promise<T>,
    inputs: readonly (Input<ElementType> | ColumnInput | null)[] = [],
    call: Call = {},
    to: Destination = "host",
  ): Promise<T> {
    this.#waiting = undefined;
    if (this.#ended) return Promise.reject(this.gone());
    const given = [...inputs, call.where].flatMap((input) => columnsOf<ColumnInput>(input ?? null));
    checkApart(to, given);
    const columns = [...given, ...(typeof to === "string" ? [] : to)];
    const sizes = columns.map(sizeOf);
    const releases = columns.filter(isPlaced).map((column) => column.hold());
    const checkInputs = () => {
      if (columns.some((column, i) => sizeOf(column) !== sizes[i])) throw takenAway();
    };
    call.checkInputs = checkInputs;
    const begin = () => {
      checkInputs();
      const ready = call.onPlan ? beginLog(call).then(this.before) : this.before?.();
      const working = ready ? ready.then(operation) : operation();
      return columns.length > 0 ? watched(working, call) : working;
    };
    return this.#queue.add(begin).finally(async () => {
      const back = releases.map((release) => release());
      // where one does not come back, the others have when that is told
      await Promise.allSettled(back);
      await Promise.all(back);
    });
  }

  /** The same for a reading call. A small one goes together with those of its kind that still wait. */
  read<R extends readonly Output<ElementType>[]>(
    { operation, keys, call, to }: Reading<K>,
    read: (keys: Input<K>) => Promise<R>,
  ): Promise<R> {
    if (this.#ended || !isJoinable(keys, call, to))
      return this.run(() => read(keys), [keys as Input<KeyType>], call, to);
    const kind = [call.strategy, call.groupSize, ...operation];
    const waiting = this.#waiting;
    if (waiting?.isOf(kind) && waiting.hasRoom(keys)) return waiting.add(keys, takenAway) as Promise<R>;
    const calls = new JoinedCalls<Scalar>(kind);
    const begin = () => {
      if (this.#waiting === calls) this.#waiting = undefined;
      return read(calls.takeKeys() as Input<K>);
    };
    calls.answer = this.run(begin) as unknown as JoinedCalls<Scalar>["answer"];
    this.#waiting = calls;
    return calls.add(keys, takenAway) as Promise<R>;
  }

  /** Lets calls that were made end, and none begin after them. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#queue.drained();
  }
}

/**
 * Whether others may join a reading call: it has keys in one column, and results on the host, few keys, and nothing
 * that is told on its way.
 */
function isJoinable(
  keys: Input<KeyType>,
  { where, signal, onProgress, onPlan }: Call,
  to: Destination,
): keys is ScalarArrays[Scalar] {
  const isAlone = where ?? signal ?? onProgress ?? onPlan;
  return to === "host" && ArrayBuffer.isView(keys) && isAlone === undefined && keys.length <= MOST_KEYS;
}

/** Changes when an array is taken away. Strings are two. */
function sizeOf(column: { readonly length: number; readonly bytes?: unknown }): number {
  return column.length + (ArrayBuffer.isView(column.bytes) ? column.bytes.byteLength : 0);
}

/**
 * What an operation answers, unless an array was taken away from it meanwhile: then it may have read or written
 * anything.
 */
async function watched<T>(working: Promise<T>, { checkInputs, signal }: Call): Promise<T> {
  let result: T | undefined;
  try {
    result = await working;
    checkInputs?.();
    return result;
  } catch (error) {
    discard([result, ...Object.values(result ?? {})]);
    // what an engine stumbles over has no message for callers
    if (!(error instanceof WarpmapError) && error !== signal?.reason) checkInputs?.();
    throw error;
  }
}

/** Notes from now on what a call does: its time in the queue does not count. */
async function beginLog(call: Call): Promise<void> {
  const { PlanLog } = await loadLog();
  call.log = new PlanLog();
  call.log.begin();
}

function takenAway(): ValidationError {
  return detached("An array of this call was detached before the call ended.");
}
