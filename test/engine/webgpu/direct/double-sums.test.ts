/** Sums of two doubles, made in integers by doubles.wgsl and sums.wgsl, against JavaScript's, bit by bit. */
import { expect, it } from "vitest";
import { constantLines } from "../../../../src/engine/webgpu/device/module-code.js";
import { SUM_BYTES } from "../../../../src/engine/webgpu/direct/combine-room.js";
import doubles from "../../../../src/engine/webgpu/direct/doubles.wgsl";
import sums from "../../../../src/engine/webgpu/direct/sums.wgsl";
import { useDevice } from "../../../conformance/helpers/device.js";
import { arrayEntries, bindGroup, computePipeline, dispatch, gpuOf } from "../helpers/compute.js";

const device = useDevice();
const PAIRS = 2 ** 20;
const WORKGROUP = 64;

/** An invocation for each pair of values: it adds both to a sum of its own. */
const code = `${constantLines({ VALUE_OFFSET: 0 })}
struct Params { valueShift: u32 }
const params = Params(0u);
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> table: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> result: array<vec2u>;
${doubles}
${sums}
@compute @workgroup_size(${WORKGROUP}) fn main(@builtin(global_invocation_id) id: vec3u) {
  let a = givenValue(id.x * 2u);
  let b = givenValue(id.x * 2u + 1u);
  atomicMax(&sums[id.x * WORDS + TOP], max(topOf(a), topOf(b)));
  addTo(id.x, a);
  addTo(id.x, b);
  result[id.x] = sumOf(id.x) + vec2u(0u, atomicLoad(&table[0]));
}`;

let state = 0x9e3779b9;
/** A random word: xorshift32 of Marsaglia, multiplied. */
function word(): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return Math.imul(state, 0x2c1b3c6d) >>> 0;
}

const bits = new Uint32Array(PAIRS * 4);

/** Sets value `at` from a sign, an exponent's field and two words of a fraction. */
function set(at: number, sign: number, field: number, high: number, low: number): void {
  bits[at * 2] = low;
  bits[at * 2 + 1] = ((sign << 31) | (Math.min(Math.max(field, 0), 2047) << 20) | (high & 0xfffff)) >>> 0;
}

const ends = [0, 0xffffffff];
const end = () => ends[word() & 1];
const field = () => word() % 2047;
const specials = Float64Array.of(
  0,
  -0,
  1,
  -1,
  Number.MIN_VALUE,
  -Number.MIN_VALUE,
  2 ** -1022,
  -(2 ** -1022),
  2 ** -1022 - Number.MIN_VALUE,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  2 ** 970,
  2 ** 969,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
);
const specialWords = new Uint32Array(specials.buffer);

/** Ways to a pair of values, each at its own place `a` and the next. */
const kinds: readonly ((a: number) => void)[] = [
  // any bits
  (a) => {
    for (let i = 0; i < 4; i++) bits[a * 2 + i] = word();
  },
  // exponents as near as an alignment reaches, and a little further
  (a) => {
    const near = field();
    set(a, word() & 1, near, word(), word());
    set(a + 1, word() & 1, near + (word() % 170) - 85, word(), word());
  },
  // near-cancellation
  (a) => {
    const [near, high, low] = [field(), word(), word()];
    set(a, 0, near, high, low);
    set(a + 1, 1, near + (word() % 3) - 1, high, low ^ (word() % 4));
  },
  // subnormals, and what is just above them
  (a) => {
    set(a, word() & 1, word() % 3, word(), word());
    set(a + 1, word() & 1, word() % 60, word(), word());
  },
  // ties, and one place beside them: half of a last place, and 1 + 2^-52 halves
  (a) => {
    const far = 60 + (word() % 1900);
    set(a, word() & 1, far, word(), word());
    set(a + 1, word() & 1, far - 53 + (word() % 3), 0, word() % 2);
  },
  // mantissas at their ends, on either side of powers of two
  (a) => {
    const near = 90 + (word() % 1900);
    set(a, word() & 1, near, end(), end());
    set(a + 1, word() & 1, near - (word() % 90), end(), end());
  },
  // sums near the largest double, and beyond
  (a) => {
    set(
      a,
      0,
      2046 - (word() % 2),
      word() % 4 === 0 ? 0xfffff : word(),
      word() % 4 === 0 ? 0xffffffff : word(),
    );
    set(a + 1, word() & 1, 2046 - (word() % 60), end(), end());
  },
  (a) => {
    for (let i = 0; i < 2; i++)
      bits.set(specialWords.subarray((word() % 16) * 2).subarray(0, 2), (a + i) * 2);
  },
];

it(`${PAIRS} pairs are added as JavaScript adds them; NaN is one NaN`, async () => {
  for (let i = 0; i < PAIRS; i++) kinds[i % kinds.length](i * 2);
  const gpu = gpuOf(device());
  const pipeline = await computePipeline(gpu, code);
  using values = await device().upload(bits);
  using words = await device().upload(new Uint32Array((PAIRS * SUM_BYTES) / 4));
  using table = await device().upload(new Uint32Array(1));
  using result = await device().allocate("u32", PAIRS * 2);
  const group = bindGroup(gpu, pipeline, 0, arrayEntries([values, words, table, result]));
  await dispatch(gpu, pipeline, [group], PAIRS / WORKGROUP);
  const sums = await result.read();

  const given = new Float64Array(bits.buffer);
  const expected = Float64Array.from({ length: PAIRS }, (_, i) => given[2 * i] + given[2 * i + 1]);
  const expectedBits = new Uint32Array(expected.buffer);
  for (let i = 0; i < PAIRS; i++) {
    if (Number.isNaN(expected[i])) expectedBits.set([0, 0x7ff80000], 2 * i);
    if (sums[2 * i] !== expectedBits[2 * i] || sums[2 * i + 1] !== expectedBits[2 * i + 1]) {
      const [a, b] = [given[2 * i], given[2 * i + 1]];
      const sum = new Float64Array(sums.slice(2 * i, 2 * i + 2).buffer)[0];
      expect({ kind: i % kinds.length, a, b, sum }).toEqual({
        kind: i % kinds.length,
        a,
        b,
        sum: expected[i],
      });
      expect([...sums.subarray(2 * i, 2 * i + 2)]).toEqual([...expectedBits.subarray(2 * i, 2 * i + 2)]);
    }
  }
});
