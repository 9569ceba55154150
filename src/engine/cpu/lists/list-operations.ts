/** What the cpu engine does for lists beside their own operations: it makes them, and numbers and copies elements. */
import type { ColumnInput } from "../../engine.js";
import { asBits, asBytes } from "../../scalars.js";
import { type ListOperations, NO_LIST } from "../../value-lists.js";
import type { CpuEngine } from "../cpu-engine.js";
import { CpuLists } from "./cpu-lists.js";
import { hostOf, inPieces, withInputs } from "./list-run.js";
import { ListState } from "./list-state.js";

export const operationsOf = (engine: CpuEngine): ListOperations => ({
  none: NO_LIST,

  async create(spec) {
    engine.guard();
    return new CpuLists(new ListState(engine, spec));
  },

  async number(first, length, where) {
    const numbers = engine.newArray("u32", length, false);
    const words = hostOf(numbers);
    let next = first;
    await withInputs(engine, numbers, async (inputs) => {
      const mask = where && inputs.mask(where);
      await inPieces(engine, length, {}, ({ from, to }) => {
        for (let row = from; row < to; row++) {
          words[row] = next;
          if (mask?.[row] !== 0) next++;
        }
      });
    });
    return { numbers, selected: next - first };
  },

  async copied(type, input) {
    const copy = engine.newArray(type, input.length, false);
    await withInputs(engine, copy, async (inputs) => {
      // of any type: masks are bytes
      asBytes(copy.storage.host as Uint8Array).set(inputs.mask(input as ColumnInput<"u8">));
    });
    return copy;
  },

  async pair(numbers, _type, lower) {
    const pairs = engine.newArray("u64", numbers.length, false);
    const words = asBits(pairs.storage.host as BigUint64Array);
    await withInputs(engine, pairs, async (inputs) => {
      const [low, high] = [inputs.bits(lower), hostOf(numbers)];
      await inPieces(engine, high.length, {}, ({ from, to }) => {
        for (let row = from; row < to; row++) {
          words[2 * row] = low[row];
          words[2 * row + 1] = high[row];
        }
      });
    });
    return pairs;
  },
});
