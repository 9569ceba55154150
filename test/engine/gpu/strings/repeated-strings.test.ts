/** Strings that repeat keep one number each: where hashes are equal, while slots move, and where compare-exchanges fail. */
import { afterAll, describe, expect, it, vi } from "vitest";
import { encodeStrings } from "../../../../src/containers/utf8/encode-strings.js";
import { NO_NUMBER } from "../../../../src/engine/dictionary.js";
import type { Engine } from "../../../../src/engine/engine.js";
import { weakRowCas } from "../../webgpu/helpers/weak-cas.js";
import { onWebgpu, openGpu } from "../helpers/open-gpu.js";

const none = { percent: 0, count: 20_000 };
// 256 failures in a row, after which a kernel leaves its element to the next dispatch, only come with 99 %
const injected = [
  { percent: 30, count: 6000 },
  { percent: 99, count: 400 },
];

for (const { percent, count } of onWebgpu ? [none, ...injected] : [none]) {
  describe(`${percent} of 100 compare-exchanges fail`, () => {
    let opened: Promise<Engine> | undefined;
    const tuning = percent > 0 ? { cas: weakRowCas(percent) } : {};
    const engine = () => (opened ??= openGpu({ tuning }));
    afterAll(async () => (await opened)?.destroy());

    for (const hashMask of [undefined, 7]) {
      it(`strings that come several times in a batch${hashMask ? ", of eight hashes" : ""}`, async () => {
        const strings = Array.from({ length: hashMask ? count / 20 : count }, (_, i) => `string ${i}`);
        const batch = encodeStrings([...strings, ...strings.toReversed(), ...strings], "keys");
        const dictionary = await (await engine()).dictionary({ hash: "murmur3", hashMask });
        const numbers = await (await dictionary.add(batch, {})).read();
        expect(dictionary.strings).toBe(strings.length);
        const first = numbers.subarray(0, strings.length);
        expect(new Set(first).size).toBe(strings.length);
        expect(numbers.slice(strings.length, 2 * strings.length)).toEqual(first.toReversed());
        expect(numbers.slice(2 * strings.length)).toEqual(first.slice());
        expect((await dictionary.read(first)).toArray()).toEqual(strings);
        const asked = encodeStrings(["another", strings[0]], "keys");
        expect([...(await (await dictionary.lookUp(asked, {})).read())]).toEqual([NO_NUMBER, first[0]]);
        dictionary.destroy();
      });
    }
  });
}

// on WebGPU failures of compare-exchange make as many dispatches
it.skipIf(onWebgpu)("gives up a seed that makes probes long, and strings keep their numbers", async () => {
  const drawn = vi.spyOn(crypto, "getRandomValues");
  const engine = await openGpu();
  const dictionary = await engine.dictionary({ hash: "xxhash32", hashMask: 7 });
  // all at home in four neighbouring slots: the last ones pass more than three launches' PROBE_BUDGET
  const strings = Array.from({ length: 7000 }, (_, i) => `string ${i}`);
  const batch = encodeStrings(strings, "keys");
  drawn.mockClear();
  const numbers = await (await dictionary.add(batch, {})).read();
  expect(drawn).toHaveBeenCalledOnce();
  expect(await (await dictionary.add(batch, {})).read()).toEqual(numbers);
  expect([dictionary.strings, new Set(numbers).size]).toEqual([7000, 7000]);
  expect((await dictionary.read(numbers)).toArray()).toEqual(strings);
  engine.destroy();
});
