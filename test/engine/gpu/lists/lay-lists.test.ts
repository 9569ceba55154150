/** Lists that are laid in several chunks: conformance tests lay fewer values than one has. */
import { expect, it } from "vitest";
import { expectSame } from "../../../conformance/helpers/checks.js";
import { counting } from "../../../conformance/helpers/keys.js";
import { openGpu } from "../helpers/open-gpu.js";

const CHUNK = 1024;

it("values of every chunk come to where they belong", async () => {
  const engine = await openGpu({ tuning: { hostChunk: CHUNK, staging: { bytes: 1024, count: 3 } } });
  const operations = await engine.lists();
  const count = 2 * CHUNK + 500;
  for (const value of ["u32", "u64"] as const) {
    const lists = await operations.create({ key: "u32", value, capacity: count });
    const given = value === "u32" ? counting(count, 7) : BigUint64Array.from(counting(count, 7), BigInt);
    await lists.lay(counting(count + 1), given as never);
    expect(lists).toMatchObject({ entries: count, filled: count, taken: count });
    const { numbers } = await operations.number(0, count, undefined);
    const { values } = await lists.firsts(numbers, null, value === "u32" ? 0 : 0n, "host", {});
    expectSame(Array.from(values as unknown as ArrayLike<number | bigint>, Number), counting(count, 7));
    numbers.destroy();
    lists.destroy();
  }
  engine.destroy();
});
