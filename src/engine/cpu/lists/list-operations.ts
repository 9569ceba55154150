/** What the cpu engine does for lists beside their own operations: it makes them, and numbers and copies elements. */
import type { DeviceArray } from "../../device-array.js";
import type { ColumnInput } from "../../engine.js";
import { asBits, asBytes, type BasicType, type ScalarArrays, type ScalarType } from "../../scalars.js";
import { type ListOperations, type ListSpec, NO_LIST, type ValueLists } from "../../value-lists.js";
import type { CpuEngine } from "../cpu-engine.js";
import { CpuLists } from "./cpu-lists.js";
import { hostOf, inPieces, withInputs } from "./list-run.js";
import { ListState } from "./list-state.js";

export class CpuListOperations implements ListOperations {
  readonly none = NO_LIST;
  constructor(private readonly engine: CpuEngine) {}

  async create<V extends BasicType>(spec: ListSpec): Promise<ValueLists<V>> {
    this.engine.guard();
    return new CpuLists<V>(new ListState(this.engine, spec));
  }

  async number(first: number, length: number, where: ColumnInput<"u8"> | undefined) {
    const { engine } = this;
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
  }

  async copied<T extends ScalarType>(type: T, input: ColumnInput<T>): Promise<DeviceArray<T>> {
    const copy = this.engine.newArray(type, input.length, false);
    await withInputs(this.engine, copy, async (inputs) => {
      // of any type: masks are bytes
      asBytes(copy.storage.host as ScalarArrays[T]).set(inputs.mask(input as ColumnInput<"u8">));
    });
    return copy;
  }

  async pair(
    numbers: DeviceArray<"u32">,
    _type: BasicType,
    lower: ColumnInput<BasicType>,
  ): Promise<DeviceArray<"u64">> {
    const { engine } = this;
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
  }
}
