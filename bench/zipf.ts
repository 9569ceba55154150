/**
 * Numbers drawn from a Zipf distribution: rank r of n comes with a probability in proportion to r^-exponent. Drawn on the host,
 * in doubles, by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
 * distributions", 1996), which is exact: no table, no cut-off. A seed gives the same numbers everywhere.
 */

/** sfc32 (Doty-Humphrey, PractRand), seeded by a counter and 12 rounds. Uniform 32-bit numbers. */
export class Random {
  #a = 0;
  #b: number;
  #c = 0;
  #counter = 1;

  constructor(seed: number) {
    this.#b = seed | 0;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** 0 to 2^32 - 1. */
  next(): number {
    const t = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + t) | 0;
    return t >>> 0;
  }

  /** 0 to 1 without 1, with 53 random bits. */
  unit(): number {
    return ((this.next() >>> 5) * 2 ** 26 + (this.next() >>> 6)) / 2 ** 53;
  }
}

/** Draws ranks of 1 to n. */
export class Zipf {
  readonly #first: number;
  readonly #last: number;
  readonly #shortcut: number;

  /** @param n ranks, at least 1. @param exponent at least 0; 0 is the uniform distribution. */
  constructor(
    readonly n: number,
    readonly exponent: number,
    private readonly random: Random,
  ) {
    this.#first = this.#integral(1.5) - 1;
    this.#last = this.#integral(n + 0.5);
    this.#shortcut = 2 - this.#inverse(this.#integral(2.5) - this.#density(2));
  }

  next(): number {
    if (this.exponent === 0) return 1 + Math.floor(this.random.unit() * this.n);
    for (;;) {
      const u = this.#last + this.random.unit() * (this.#first - this.#last);
      const x = this.#inverse(u);
      const rank = Math.min(this.n, Math.max(1, Math.round(x)));
      if (rank - x <= this.#shortcut || u >= this.#integral(rank + 0.5) - this.#density(rank)) return rank;
    }
  }

  #density(x: number): number {
    return Math.exp(-this.exponent * Math.log(x));
  }

  /** The integral of the density from 1 to x. */
  #integral(x: number): number {
    const log = Math.log(x);
    return ratioOfExpm1((1 - this.exponent) * log) * log;
  }

  #inverse(u: number): number {
    const t = Math.max(-1, u * (1 - this.exponent));
    return Math.exp(ratioOfLog1p(t) * u);
  }
}

/** (e^x - 1) / x, also near 0. */
function ratioOfExpm1(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.expm1(x) / x : 1 + (x / 2) * (1 + x / 3);
}

/** log(1 + x) / x, also near 0. */
function ratioOfLog1p(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.log1p(x) / x : 1 - x * (1 / 2 - x / 3);
}

/** Numbers 0 to n - 1 by rank, `count` of them, and how many are distinct. */
export function zipfNumbers(
  n: number,
  exponent: number,
  count: number,
  seed = 1,
): { numbers: Uint32Array; distinct: number } {
  const zipf = new Zipf(n, exponent, new Random(seed));
  const numbers = new Uint32Array(count);
  const seen = new Uint32Array(Math.ceil(n / 32));
  let distinct = 0;
  for (let i = 0; i < count; i++) {
    const number = zipf.next() - 1;
    numbers[i] = number;
    const bit = 1 << (number & 31);
    if ((seen[number >>> 5] & bit) === 0) {
      seen[number >>> 5] |= bit;
      distinct++;
    }
  }
  return { numbers, distinct };
}
