/** Keys with floats in them, alone or in lists, in every call beside a Map: −0 is +0, and NaNs are one key whatever their bits. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KeyType, scalarsOf } from "../../src/engine/element-types.js";
import { allocate, asBits, type Scalar, type ScalarArrays, scalarWords } from "../../src/engine/scalars.js";
import { DynamicMap, DynamicSet, StaticMap, StaticSet } from "../../src/index.js";
import { rounds } from "../helpers/rounds.js";
import { onOneTable, onSoftwareGpu, useDevice } from "./helpers/device.js";

const device = useDevice();

type Columns = readonly ScalarArrays[Scalar][];
type AnyMap = StaticMap<readonly Scalar[], "u32">;

/** Words of floats that compare as others than their bits do: high words for f64, whose low word is 0 or not. */
const F32 = [
  0, 0x80000000, 1, 0x80000001, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001,
  0xff800001, 0x7fffffff, 0xffffffff, 0xfffffffe,
];
const F64 = [0, 0x80000000, 0x3ff00000, 0x7ff00000, 0xfff00000, 0x7ff80000, 0xfff80000, 0xffffffff].flatMap(
  (high) => [0, 1, 0xffffffff].map((low) => [low, high]),
);

const lists: readonly (readonly Scalar[])[] = [
  ["f32"],
  ["f64"],
  ["f32", "u32"],
  ["u32", "f64", "f32"],
  ["f64", "f64"],
];
/** Of each list SwiftShader compiles kernels of their own. */
/** Each call takes several GPUs many steps. */
const isSlow = onSoftwareGpu || !onOneTable;
const shapes: readonly KeyType[] = isSlow
  ? lists.slice(0, 1)
  : ["f32", "f64", ...lists, ["f32", "f32", "i64"], ["f64", "f32", "f64", "u32"]];
/** Hash functions of one word, of several, and a caller's own, which sees canonical words. */
const hashesOf = (types: readonly Scalar[]) => [undefined, "xxhash64" as const, ownHash(types)];

function ownHash(types: readonly Scalar[]) {
  const names = types.flatMap((type, c) => Array.from({ length: scalarWords[type] }, (_, w) => `w${c}_${w}`));
  const steps = names.map((name) => `sum = (sum ^ ${name}) * 0x9e3779b1u;`);
  return {
    name: "sums",
    js: (...words: number[]) => words.reduce((sum, word) => Math.imul(sum ^ word, 0x9e3779b1), 7) >>> 0,
    wgsl: `fn sums(${names.map((name) => `${name}: u32`)}) -> u32 { var sum = 7u; ${steps.join(" ")} return sum; }`,
  };
}

const elementsFrom = (types: readonly Scalar[], numbers: readonly number[]): Columns =>
  types.map((type, c) => {
    const column = allocate(type, numbers.length);
    const bits = asBits(column);
    numbers.forEach((n, i) => {
      const number = c === 0 ? n : n >>> (3 * c);
      if (type === "f32") bits[i] = F32[number % F32.length];
      else if (type === "f64") bits.set(F64[number % F64.length], 2 * i);
      else column[i] = (type === "i64" ? BigInt(number % 3) : number % 3) as never;
    });
    return column;
  });
const textAt = (columns: Columns, i: number) => columns.map((column) => String(column[i])).join();
const textsOf = (columns: Columns) => Array.from({ length: columns[0].length }, (_, i) => textAt(columns, i));

/** Words of all keys, where floats may have their canonical bits only. */
function expectCanonical(columns: Columns): void {
  for (const column of columns) {
    if (column instanceof Float32Array || column instanceof Float64Array) {
      const plain = column.map((value) => (Number.isNaN(value) ? Number.NaN : value + 0));
      expect(Array.from(asBits(column))).toEqual(Array.from(asBits(plain)));
    }
  }
}

const given = (key: KeyType, columns: Columns) => (typeof key === "string" ? columns[0] : columns) as Columns;
const listed = (key: KeyType, keys: unknown) => (typeof key === "string" ? [keys] : keys) as Columns;

const numbers = fc.array(fc.nat({ max: 4095 }), { minLength: 1, maxLength: 40 });
const step = fc.tuple(fc.nat({ max: 9 }), numbers, fc.boolean());

describe("floats in keys are equal as in a Map, in every call", () => {
  for (const key of shapes) {
    it(`of type ${JSON.stringify(key)}`, async () => {
      const types = scalarsOf<Scalar>(key);
      const property = fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        onSoftwareGpu ? fc.constant(undefined) : fc.constantFrom(...hashesOf(types)),
        async (steps, grows, hash) => {
          const options = { key, value: "u32", capacity: 500, ...(hash && !onSoftwareGpu && { hash }) };
          const Kind = (grows ? DynamicMap : StaticMap) as typeof StaticMap;
          let map = (await Kind.create(device(), options as never)) as unknown as AnyMap;
          const model = new Map<string, number>();
          for (const [n, [call, list, uploaded]] of steps.entries()) {
            const columns = elementsFrom(types, list);
            const texts = textsOf(columns);
            const onDevice = uploaded
              ? await Promise.all(columns.map((column) => device().upload(column)))
              : columns;
            const keys = given(key, onDevice as never);
            const values = Uint32Array.from(texts, (text) => n * 1000 + text.length);
            const put = (value: (text: string, i: number) => number) => {
              for (const [i, text] of texts.entries()) model.set(text, value(text, i));
            };
            if (call <= 1) {
              const fresh = new Set(texts.filter((text) => !model.has(text))).size;
              const { inserted, existing } = await map.insert(keys, values);
              expect([inserted, existing]).toEqual([fresh, texts.length - fresh]);
              put((text, i) => model.get(text) ?? values[i]);
            } else if (call === 2) {
              await map.insertOrAssign(keys, values);
              put((_, i) => values[i]);
            } else if (call === 3) {
              await map.insertOrApply(keys, values, "add");
              put((text, i) => (model.get(text) ?? 0) + values[i]);
            } else if (call === 4) {
              const { values: stored } = await map.insertAndFind(keys, values);
              put((text, i) => model.get(text) ?? values[i]);
              expect(Array.from(stored)).toEqual(texts.map((text) => model.get(text)));
            } else if (call === 5) {
              const { erased } = await map.erase(keys);
              expect(erased).toBe(new Set(texts.filter((text) => model.has(text))).size);
              for (const text of texts) model.delete(text);
            } else if (call === 6) {
              const packed = await map.toBytes();
              map.destroy();
              map = (await Kind.fromBytes(device(), packed, hash && { hash })) as unknown as AnyMap;
            } else if (call === 7) {
              const other = await map.clone();
              await map.clear();
              await map.merge(other);
              other.destroy();
            } else await map.rehash();
            const found = await map.contains(keys);
            expect(Array.from(found)).toEqual(texts.map((text) => Number(model.has(text))));
            const { values: answers } = await map.find(keys, { missing: 7 });
            expect(Array.from(answers)).toEqual(texts.map((text) => model.get(text) ?? 7));
            if (uploaded) for (const column of onDevice) (column as unknown as Disposable)[Symbol.dispose]();
          }
          const { keys, values } = await map.retrieveAll();
          const columns = listed(key, keys);
          expectCanonical(columns);
          const entries = textsOf(columns).map((text, i) => [text, values[i]] as const);
          expect(new Map(entries)).toEqual(model);
          expect(map.size).toBe(model.size);
          map.destroy();
        },
      );
      await fc.assert(property, { numRuns: rounds(isSlow ? 5 : 30) });
    });

    it(`sets of type ${JSON.stringify(key)} answer the stored keys`, async () => {
      const types = scalarsOf<Scalar>(key);
      const columns = elementsFrom(
        types,
        Array.from({ length: 300 }, (_, i) => i * 13),
      );
      const distinct = new Set(textsOf(columns)).size;
      for (const Kind of [StaticSet, DynamicSet as never as typeof StaticSet]) {
        using set = await Kind.create(device(), { key: key as "f32", capacity: 500 });
        const { inserted } = await set.insert(given(key, columns) as never);
        expect(inserted).toBe(distinct);
        const { keys, found } = await set.find(given(key, columns) as never);
        expect(found.every((flag) => flag === 1)).toBe(true);
        expectCanonical(listed(key, keys));
        expect(textsOf(listed(key, keys))).toEqual(textsOf(columns));
      }
    });
  }
});
