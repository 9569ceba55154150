/** Inputs whose memory is taken away while an operator works. */
import { expect } from "vitest";

/** Of ES2024, for which TypeScript's library is not set. */
type Resizable = new (
  bytes: number,
  options?: { maxByteLength: number },
) => ArrayBuffer & { resize(bytes: number): void };

/** A table of keys and values, and a way to take its memory. */
export function table(kind: "transferred" | "cut short", rows = 3000) {
  const buffer = new (ArrayBuffer as unknown as Resizable)(
    8 * rows,
    kind === "cut short" ? { maxByteLength: 8 * rows } : undefined,
  );
  const id = new Int32Array(buffer, 0, rows).map((_, i) => i % 700);
  const own = new Int32Array(buffer, 0, rows);
  const value = new Int32Array(buffer, 4 * rows, rows);
  own.set(id);
  value.set(id.map((key) => 3 * key));
  const takeAway = () => {
    if (kind === "transferred") structuredClone(buffer, { transfer: [buffer] });
    else buffer.resize(4);
  };
  return { columns: { id: own, value }, takeAway };
}

const sorted = (answer: unknown) =>
  Array.isArray(answer)
    ? answer.map((row) => JSON.stringify(row, (_, v) => (typeof v === "bigint" ? `${v}` : v))).sort()
    : answer;

/** Lets a number of microtasks, and then of tasks, go by. */
export async function after(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++)
    await (i < 24 ? undefined : new Promise((resolve) => setImmediate(resolve)));
}

/** Takes the memory of a call's input away at some turns of it, and looks at its answers: right, or an error. */
export async function rightOrRefused(
  call: (input: { id: Int32Array; value: Int32Array }) => Promise<unknown>,
  turnsOf: readonly number[],
  rows?: number,
): Promise<void> {
  const right = sorted(await call(table("transferred", rows).columns));
  let refused = 0;
  for (const kind of ["transferred", "cut short"] as const) {
    for (const turns of turnsOf) {
      const { columns, takeAway } = table(kind, rows);
      const answer = call(columns).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      await after(turns);
      takeAway();
      const made = await answer;
      if ("value" in made) expect(sorted(made.value)).toEqual(right);
      else {
        refused++;
        expect(`${made.error}`).toMatch(
          /^ValidationError: .* is detached: its buffer was transferred or cut short/,
        );
      }
    }
  }
  expect(refused).toBeGreaterThan(0);
}
