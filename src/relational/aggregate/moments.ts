/**
 * Counts, means and sums of squared distances from the mean, by group: variances and standard deviations come from
 * them. Two passes over the values, the second with Björck's correction; groups of several tables by Chan, Golub and
 * LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances" (1979).
 *
 * Nothing is lost of values that are close together and far from 0: a mean is kept as a sum of several numbers, and
 * integers that float64 does not hold are taken as exact distances from one of their group.
 */
import { type Integers, meansOf, Sums } from "./sums.js";

export class Moments {
  private constructor(
    readonly counts: Float64Array,
    /**
     * Means are sums of one number of each of these, of which the greatest come first. All tables of a column have as
     * many.
     */
    readonly means: readonly Float64Array[],
    /** Sums of squared distances from the mean. */
    readonly squares: Float64Array,
  ) {}

  /**
   * Of values whose means are known, as far as one number holds them.
   * @param groupOf per value its group; the number behind the last group for nulls
   * @param origins what values and means are distances from: of each group one number of each
   */
  static of(
    values: ArrayLike<number>,
    groupOf: Uint32Array,
    counts: Float64Array,
    means: Float64Array,
    origins: readonly Float64Array[] = [],
  ): Moments {
    const squares = new Float64Array(counts.length + 1);
    const rest = new Float64Array(counts.length + 1);
    for (let row = 0; row < groupOf.length; row++) {
      const group = groupOf[row];
      const distance = values[row] - means[group];
      squares[group] += distance * distance;
      rest[group] += distance;
    }
    for (let group = 0; group < counts.length; group++) {
      if (counts[group] === 0) continue;
      squares[group] -= (rest[group] * rest[group]) / counts[group];
      rest[group] /= counts[group];
    }
    const own = (numbers: Float64Array) => numbers.subarray(0, counts.length);
    return new Moments(counts, [...origins, means, rest].map(own), own(squares));
  }

  /** Of integers of several words, as `of`: where float64 does not hold them, it holds their distances. */
  static ofIntegers(integers: Integers, groupOf: Uint32Array, counts: Float64Array): Moments {
    const groups = counts.length;
    const { origins, distances } = distancesOf(integers, groupOf, groups);
    const means = meansOf(Sums.ofFloats(distances, groupOf, groups), counts, 1);
    return Moments.of(distances, groupOf, counts, means, origins);
  }

  /** @param groupOf per group of the parts, one part after the other: its new number */
  static merge(parts: readonly Moments[], groupOf: Uint32Array, groups: number): Moments {
    const numbers = () => new Float64Array(groups);
    const merged = new Moments(numbers(), parts[0].means.map(numbers), numbers());
    let first = 0;
    for (const part of parts) {
      merged.#add(part, groupOf.subarray(first, first + part.counts.length));
      first += part.counts.length;
    }
    return merged;
  }

  #add(part: Moments, groupOf: Uint32Array): void {
    const { counts, means, squares } = this;
    const last = means[means.length - 1];
    for (let old = 0; old < groupOf.length; old++) {
      const group = groupOf[old];
      const added = part.counts[old];
      if (added === 0) continue;
      if (counts[group] === 0) {
        counts[group] = added;
        squares[group] = part.squares[old];
        for (let k = 0; k < means.length; k++) means[k][group] = part.means[k][old];
        continue;
      }
      const total = counts[group] + added;
      let distance = 0;
      for (let k = 0; k < means.length; k++) distance += part.means[k][old] - means[k][group];
      squares[group] += part.squares[old] + (distance * distance * counts[group] * added) / total;
      last[group] += (distance * added) / total;
      counts[group] = total;
    }
  }

  /**
   * Variances: of samples with one degree of freedom less. NaN where there are too few values. @param unit what values
   * are divided by
   */
  variances(population: boolean, unit: number): Float64Array {
    const { counts, squares } = this;
    return squares.map((sum, group) => {
      const freedom = counts[group] - (population ? 0 : 1);
      return freedom > 0 ? Math.max(sum, 0) / freedom / unit ** 2 : Number.NaN;
    });
  }
}

/**
 * Distances of integers from some value of their group, each rounded once. Of that value there is a number for each of
 * its words.
 *
 * A word counts × 2^(32 k). Differences of one word of two values are exact, and added from the upper words on they
 * only round where nothing cancels out any more.
 */
function distancesOf(
  { data, width, signed }: Integers,
  groupOf: Uint32Array,
  groups: number,
): { origins: Float64Array[]; distances: Float64Array } {
  const top = signed ? new Int32Array(data.buffer, data.byteOffset, data.length) : data;
  const distances = new Float64Array(groupOf.length);
  const origins: Float64Array[] = [];
  for (let word = width - 1; word >= 0; word--) {
    const words = word === width - 1 ? top : data;
    const unit = 2 ** (32 * word);
    const origin = new Float64Array(groups + 1);
    for (let row = groupOf.length - 1; row >= 0; row--)
      origin[groupOf[row]] = words[row * width + word] * unit;
    for (let row = 0, at = word; row < distances.length; row++, at += width) {
      distances[row] += words[at] * unit - origin[groupOf[row]];
    }
    origins.push(origin);
  }
  return { origins, distances };
}
