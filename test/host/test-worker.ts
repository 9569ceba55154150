/** A worker of which tests ask what they need: results, errors of each kind, an end that comes unasked, and work without end. */
import { CapacityError, LimitError, ValidationError } from "../../src/errors.js";
import { provide } from "../../src/host/provide.js";
import { FileError } from "../../src/io/errors.js";

export interface Asked {
  readonly kind: "double" | "held" | "spin" | "exit" | keyof typeof FAILURES;
  readonly values: Int32Array;
}

export const FAILURES = {
  file: () => new FileError("a.csv", "line 3: is torn", "Mend it.", { cause: new RangeError("3 > 2") }),
  limit: () => new LimitError("rows", 7, 5, "Take fewer."),
  capacity: () => new CapacityError({ inserted: 1, rejected: 2, capacity: 3, slots: 4 }),
  validation: () => new ValidationError("It is wrong.", "Right it."),
  type: () => new TypeError("no such thing"),
  range: () => new RangeError("too far"),
  plain: () => Object.assign(new Error("torn"), { at: 17, call: () => {} }),
  text: () => "just text",
};

provide<Asked, Int32Array>(
  "test",
  ({ kind, values }) => {
    if (kind === "double") return values.map((value) => 2 * value);
    if (kind === "held") return Int32Array.of(process.memoryUsage().external / 2 ** 20);
    while (kind === "spin");
    if (kind === "exit") process.exit(3);
    throw FAILURES[kind as keyof typeof FAILURES]();
  },
  (result) => [result],
);
