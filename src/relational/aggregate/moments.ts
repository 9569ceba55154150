/**
 * Counts, means and sums of squared distances from the mean, by group: variances and standard deviations come from them. Two passes
 * over the values, the second with Björck's correction; groups of several tables by Chan, Golub and LeVeque, "Updating Formulae
 * and a Pairwise Algorithm for Computing Sample Variances" (1979).
 */

export class Moments {
  constructor(
    readonly counts: Float64Array,
    readonly means: Float64Array,
    /** Sums of squared distances from the mean. */
    readonly squares: Float64Array,
  ) {}

  /**
   * Of values whose means are known.
   * @param groupOf per value its group; the number behind the last group for nulls
   */
  static of(
    values: ArrayLike<number>,
    groupOf: Uint32Array,
    counts: Float64Array,
    means: Float64Array,
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
      if (counts[group] > 0) squares[group] -= (rest[group] * rest[group]) / counts[group];
    }
    return new Moments(counts, means, squares.subarray(0, counts.length));
  }

  /** @param groupOf per group of the parts, one part after the other: its new number */
  static merge(parts: readonly Moments[], groupOf: Uint32Array, groups: number): Moments {
    const merged = new Moments(new Float64Array(groups), new Float64Array(groups), new Float64Array(groups));
    const { counts, means, squares } = merged;
    let at = 0;
    for (const part of parts) {
      for (let old = 0; old < part.counts.length; old++) {
        const group = groupOf[at++];
        const added = part.counts[old];
        if (added === 0) continue;
        const total = counts[group] + added;
        const distance = part.means[old] - means[group];
        squares[group] += part.squares[old] + (distance * distance * counts[group] * added) / total;
        means[group] += (distance * added) / total;
        counts[group] = total;
      }
    }
    return merged;
  }

  /** Variances: of samples with one degree of freedom less. NaN where there are too few values. */
  variances(population: boolean): Float64Array {
    const { counts, squares } = this;
    return squares.map((sum, group) => {
      const freedom = counts[group] - (population ? 0 : 1);
      return freedom > 0 ? Math.max(sum, 0) / freedom : Number.NaN;
    });
  }
}
