/** Injected failures of compare-exchange: strings keep one number each, also where hashes are equal, and while slots move. */
import { afterAll, describe, expect, it } from "vitest";
import { encodeStrings } from "../../../../src/containers/utf8/encode-strings.js";
import { NO_NUMBER } from "../../../../src/engine/dictionary.js";
import type { Engine } from "../../../../src/engine/engine.js";
import { openVariant } from "../../webgpu/helpers/variants.js";
import { weakRowCas } from "../../webgpu/helpers/weak-cas.js";

// 256 failures in a row, after which a kernel leaves its element to the next dispatch, only come with 99 %
for (const { percent, count } of [
  { percent: 30, count: 6000 },
  { percent: 99, count: 400 },
]) {
  describe(`${percent} of 100 compare-exchanges fail`, () => {
    let opened: Promise<Engine> | undefined;
    const engine = () => (opened ??= openVariant({ tuning: { cas: weakRowCas(percent) } }));
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
