/** Counting the new keys of a batch in sets that are too small at first: what one set rejects is counted in the next. */
import { expect, it } from "vitest";
import { countNewKeys } from "../../src/containers/count-new-keys.js";
import { useDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const LENGTH = 3000;

for (const firstSlots of [1, 100, 2000]) {
  it(`is exact, and leaves no memory, where the first set has ${firstSlots} slots`, async () => {
    const { engine } = device();
    const table = await engine.createTable<"u32", "u32">({
      key: "u32",
      value: "u32",
      slots: 500,
      hash: "murmur3",
    });
    try {
      await table.insert(uniqueKeys(200), counting(200), "keep", {});
      // half of the elements are one key; of the others every key comes once or twice
      const keys = Uint32Array.from(
        { length: LENGTH },
        (_, i) => uniqueKeys(1, i % 2 ? 7 : (i * 2) % 2200)[0],
      );
      const where = Uint8Array.from(keys, (_, i) => (i % 3 ? 1 : 0));
      const known = new Set(uniqueKeys(200));
      const selected = new Set(keys.filter((key, i) => where[i] === 1 && !known.has(key)));

      const before = device().memory.inUse;
      const most = Number.POSITIVE_INFINITY;
      const count = await countNewKeys(engine, table, keys, { where }, { most, firstSlots });
      expect(count).toBe(selected.size);
      expect(device().memory.inUse).toBeLessThanOrEqual(before);

      // beyond `most` any number will do
      const enough = await countNewKeys(engine, table, keys, { where }, { most: 10, firstSlots });
      expect(enough).toBeGreaterThan(10);
      expect(enough).toBeLessThanOrEqual(selected.size);
    } finally {
      table.destroy();
    }
  });
}
