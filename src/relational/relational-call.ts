/**
 * What relational operators share of a call: checks of the options that all of them take, the device and its engine's
 * row operations, the times of stages, the plan, and pauses in which signals are heard. Knows nothing of tables.
 */

import type { Table } from "@uwdata/flechette";
import type { SourceTable } from "../arrow/columns.js";
import { materialise, type OutputColumn } from "../arrow/materialise.js";
import { defaultDevice } from "../default-device.js";
import type { Device } from "../device.js";
import type { Segment } from "../engine/join-kinds.js";
import type { Plan } from "../engine/plan.js";
import { PlanLog } from "../engine/plan-log.js";
import type { JoinCall } from "../engine/row-operations.js";
import { ValidationError } from "../errors.js";
import { nextTask } from "../host/next-task.js";
import { check, checkCallbacks, checkOptions } from "../options.js";
import { nextPlace, onSlot } from "./slots.js";

/** The options that all such calls take; each call documents its own. @internal */
export interface RelationalOptions<Stage extends string> {
  readonly device?: Device;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
  readonly onPlan?: (plan: Plan) => void;
  readonly onStage?: (stage: Stage, seconds: number) => void;
}

/** One call, from its options on. @internal */
export class RelationalCall<Stage extends string> {
  readonly options: RelationalOptions<Stage>;
  /** Among all calls. */
  readonly #place = nextPlace();
  #stageBegan = 0;
  #plan: Plan | undefined;

  /**
   * Checks the shared options, and that there are no others than `known`.
   * @param known names of all options, with spaces between them: as in `checkOptions`, where the compiler checks them
   */
  constructor(options: RelationalOptions<Stage>, known: string) {
    checkOptions(options, known as never);
    const { device, signal, onProgress, onPlan, onStage } = options;
    checkCallbacks({ signal, onProgress, onPlan, onStage });
    const isDevice = device === undefined || Boolean(device?.engine);
    check(isDevice, "device", device, "Give what `await openDevice()` answers.");
    this.options = options;
  }

  throwIfAborted(): void {
    this.options.signal?.throwIfAborted();
  }

  /** The device to work on. The first stage begins when it is there. */
  async begin(): Promise<Device> {
    const device = this.options.device ?? (await defaultDevice());
    this.beginStages();
    return device;
  }

  /** The first stage begins. */
  beginStages(): void {
    this.#stageBegan = performance.now();
  }

  /** Lets the event loop run, and heeds the signal. */
  readonly pause = async (): Promise<void> => {
    await nextTask();
    this.throwIfAborted();
  };

  /**
   * Works on the device when the call's turn has come; the first stage begins then. See slots.ts: the work waits for
   * the device alone.
   */
  onSlot<T>(device: Device, inputs: readonly SourceTable[], work: () => Promise<T>): Promise<T> {
    const staged = () => {
      this.beginStages();
      return work();
    };
    return onSlot(device, this.options.signal, inputs, staged, this.#place);
  }

  /** Has each of some answers made in a slot of its own: between two of them their reader may use the device. */
  async *eachOnSlot<T>(inputs: readonly SourceTable[], made: AsyncGenerator<T>): AsyncGenerator<T> {
    const device = await this.begin();
    try {
      for (;;) {
        const { value, done } = await this.onSlot(device, inputs, () => made.next());
        if (done) return;
        yield value;
      }
    } finally {
      await made.return(undefined);
    }
  }

  /** Tells the time of a stage, and begins the next one. */
  endStage(stage: Stage): void {
    const now = performance.now();
    this.options.onStage?.(stage, (now - this.#stageBegan) / 1000);
    this.#stageBegan = now;
  }

  /** Has the engine work, with signal, progress and plan. */
  async onEngine<T>(work: (call: Omit<JoinCall, "nullsEqual">) => Promise<T>): Promise<T> {
    const { signal, onProgress, onPlan } = this.options;
    const log = onPlan && new PlanLog();
    log?.begin();
    const answer = await work({ signal, onProgress, log });
    this.#plan = log?.finish();
    return answer;
  }

  /** Tells the plan, where somebody asked. */
  tellPlan(): void {
    if (this.#plan) this.options.onPlan?.(this.#plan);
  }
}

/** The last stage of a call: gathers the answer by the threads of the device's engine, and tells the plan. @internal */
export async function materialiseAnswer(
  outputs: readonly OutputColumn[],
  segments: readonly Segment[],
  call: Pick<RelationalCall<"materialise">, "pause" | "endStage" | "tellPlan">,
  device: Device,
): Promise<Table> {
  const made = await materialise(outputs, segments, call.pause, await device.host());
  call.endStage("materialise");
  call.tellPlan();
  return made;
}

/**
 * Checks a list of different names of columns, at least one.
 * @param call whose option it is
 * @param what the columns are: "key column"
 */
export function checkNames(call: string, option: string, what: string, names: unknown): readonly string[] {
  const example = `Write ${option}: ["origin", "month"].`;
  if (typeof names === "string")
    throw new ValidationError(`${option} is "${names}", not a list of columns.`, example);
  if (!Array.isArray(names) || names.length === 0)
    throw new ValidationError(`${call} needs at least one ${what} in ${option}.`, example);
  for (const [i, name] of names.entries()) {
    if (typeof name !== "string") throw new ValidationError(`A column in ${option} is not a name.`, example);
    if (names.indexOf(name) !== i)
      throw new ValidationError(`${option} names the column "${name}" twice.`, "Name it once.");
  }
  return names;
}
