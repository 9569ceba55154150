/** maxProbe, the bound on the slots that a miss looks at, is that of the keys which are there, not of the table. */
import { afterAll, expect, it } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import type { AnyTable } from "../drive.js";

const engines: CpuEngine[] = [];
afterAll(() => {
  for (const engine of engines) engine.destroy();
});

const SLOTS = 20_000;
/** One key a slot, and behind them some with the home of the first. */
const spread = Uint32Array.from({ length: SLOTS / 2 }, (_, i) => Math.ceil((2 * i * 2 ** 32) / SLOTS));
const crowd = Uint32Array.from({ length: 5 }, (_, i) => i + 1);

for (const [threads, strategy] of [
  [1, "direct"],
  [2, "partitioned"],
] as const) {
  it(`is the longest probe of an insert, ${strategy}`, async () => {
    const tuning = { changeFrom: 1, lookUpFrom: 1 };
    const engine = (await openCpuEngine({ threads, tuning })) as CpuEngine;
    engines.push(engine);
    const spec = { key: "u32", value: "u32", slots: SLOTS, hash: "identity" } as const;
    const table = (await engine.createTable(spec)) as AnyTable;
    const { counters: none } = table.inspect();
    expect(none.maxProbe).toBe(0);
    await table.insert(spread, spread, "keep", { strategy });
    expect(table.inspect().counters.maxProbe).toBe(1);
    await table.insert(crowd, crowd, "keep", { strategy });
    // the free slots are every other one: the fifth has looked at ten
    expect(table.inspect().counters.maxProbe).toBe(10);
    await table.insert(crowd, crowd, "assign", { strategy });
    await table.erase(spread, { strategy });
    expect(table.inspect().counters.maxProbe).toBe(10);
  });
}
