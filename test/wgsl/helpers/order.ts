/** Whether what operations of one dispatch answered is what some order of them, one after another, answers. */
import { expect } from "vitest";
import { ERASE, EXISTING, FULL, INSERT, INSERTED, type KeyColumn, OPS } from "./runner.js";

type Key = number | bigint;

/** An operation on one key, and what it answered. */
interface Step {
  readonly op: number;
  readonly answer: number;
}

/** The presence of a key after an operation that answered so; null where it cannot have, if the key was there or not. */
function after(present: boolean, { op, answer }: Step): boolean | null {
  if (op === INSERT) {
    if (answer === FULL) return null;
    return (answer === EXISTING) === present ? true : null;
  }
  if ((answer === 1) !== present) return null;
  return op === ERASE ? false : present;
}

/** What an operation adds to the number of entries. */
const change = ({ op, answer }: Step): number =>
  op === INSERT ? Number(answer === INSERTED) : op === ERASE ? -answer : 0;

/**
 * Whether the operations of several invocations on one key have an order, one after another, that gives their answers and its presence.
 * What changes nothing and may come next does so at once, which takes nothing from those after it. So only changes are searched.
 */
function hasOrder(sequences: readonly (readonly Step[])[], before: boolean, atEnd: boolean): boolean {
  const sum = sequences.flat().reduce((sum, step) => sum + change(step), Number(before));
  if (sum !== Number(atEnd)) return false;
  const seen = new Set<string>();
  const search = (from: readonly number[], present: boolean): boolean => {
    const places = from.map((place, i) => {
      const rest = sequences[i].slice(place);
      const next = rest.findIndex((step) => change(step) !== 0 || after(present, step) === null);
      return next < 0 ? sequences[i].length : place + next;
    });
    const state = `${places} ${present}`;
    if (seen.has(state)) return false;
    seen.add(state);
    if (places.every((place, i) => place === sequences[i].length)) return present === atEnd;
    return sequences.some((sequence, i) => {
      if (places[i] === sequence.length) return false;
      const next = after(present, sequence[places[i]]);
      return next !== null && search(places.with(i, places[i] + 1), next);
    });
  };
  return search(
    sequences.map(() => 0),
    before,
  );
}

/** Every answer about every key is one that some order of the operations gives. */
export function expectSomeOrder(
  { ops, keys, answers }: { ops: Uint32Array; keys: KeyColumn; answers: Uint32Array },
  before: ReadonlySet<Key>,
  now: ReadonlySet<Key>,
): void {
  const byKey = new Map<Key, Map<number, Step[]>>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const invocations = byKey.get(key) ?? new Map<number, Step[]>();
    byKey.set(key, invocations);
    const steps = invocations.get(Math.floor(i / OPS)) ?? [];
    invocations.set(Math.floor(i / OPS), steps);
    steps.push({ op: ops[i], answer: answers[i] });
  }
  for (const [key, invocations] of byKey) {
    const sequences = [...invocations.values()];
    if (!hasOrder(sequences, before.has(key), now.has(key))) {
      expect.unreachable(
        `no order of ${JSON.stringify(sequences)} on key ${key}, ${before.has(key)} before and ${now.has(key)} after`,
      );
    }
  }
}
