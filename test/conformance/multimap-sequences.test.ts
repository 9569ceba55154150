/** Random sequences of calls on multimaps and multisets: after each of them they answer as a plain Map of arrays does. */
import fc from "fast-check";
import { describe, it } from "vitest";
import type { BasicType } from "../../src/index.js";
import { rounds } from "../helpers/rounds.js";
import { backend, inBrowser, onSoftwareGpu, scaled, useDevice } from "./helpers/device.js";
import { edgePatterns, oddFloats } from "./helpers/keys.js";
import { MultiModel } from "./helpers/multi-model.js";

const device = useDevice();
const RUNS = rounds(backend === "cpu" ? 50 : scaled(100, inBrowser ? 2 : 5));

/** Few keys, so that many are equal: sentinels, odd floats, and such as differ in one word only. */
const pool = [
  ...Array.from(edgePatterns, BigInt),
  ...Array.from(oddFloats, BigInt),
  0xffffffff_ffffffffn,
  0xffffffff_fffffffen,
  0x1_00000000n,
  0x2_00000000n,
];

/** On SwiftShader, which takes long to compile, each kind of kernel once. */
const shapes: readonly (readonly [BasicType, BasicType | null])[] = onSoftwareGpu
  ? [
      ["u32", "u32"],
      ["f32", null],
      ["u64", "u64"],
    ]
  : [
      ["u32", "u32"],
      ["f32", "i32"],
      ["i32", "u64"],
      ["u64", "f32"],
      ["u64", "u64"],
      ["u32", null],
      ["f32", null],
      ["u64", null],
    ];

const element = fc.record({
  pick: fc.oneof({ weight: 2, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(pool.length - 1) }),
  value: fc.oneof(fc.nat(3), fc.constantFrom(0xffffffff, 0xfffffffe)),
  chosen: fc.boolean(),
});
const calls = [
  "insert",
  "insert",
  "insert",
  "insert",
  "erase",
  "erasePairs",
  "look",
  "clear",
  "rehash",
  "bytes",
  "clone",
  "merge",
] as const;
const step = fc.record({
  call: fc.constantFrom(...calls),
  elements: fc.array(element, { maxLength: 40 }),
  masked: fc.boolean(),
  outer: fc.boolean(),
  number: fc.nat(120),
});

describe("random sequences", () => {
  for (const [key, value] of shapes) {
    const name = value === null ? `a multiset of ${key}` : `a multimap of ${key} and ${value}`;
    it(`on ${name} agree with a Map of arrays`, async () => {
      const options = fc.record({
        capacity: fc.constantFrom(0, 5, 40, 100),
        maxLoadFactor: fc.constantFrom(0.5, 1),
      });
      await fc.assert(
        fc.asyncProperty(options, fc.array(step, { minLength: 1, maxLength: 10 }), async (options, steps) => {
          using model = await MultiModel.create(device(), { key, value, ...options });
          for (const { call, elements, masked, outer, number } of steps) {
            const keys = elements.map(({ pick }) => pool[pick]);
            const values = elements.map(({ value }) => BigInt(value));
            const where = masked ? Uint8Array.from(elements, ({ chosen }) => Number(chosen)) : undefined;
            if (call === "insert") await model.insert(keys, values, where);
            else if (call === "erase") await model.erase(keys.slice(0, 5), where?.slice(0, 5));
            else if (call === "look") await model.look(keys, { where, outer, missing: number });
            else if (call === "clear") await model.clear();
            else if (call === "rehash") await model.rehash(number);
            else if (call === "bytes" || call === "clone") await model.copy(call);
            else if (call === "merge") await model.mergeSelf();
            else if (value !== null) await model.erasePairs(keys, values, where);
          }
          await model.expectEqual();
          await model.look(pool, { outer: true, missing: 7 });
        }),
        { numRuns: RUNS },
      );
    });
  }
});
