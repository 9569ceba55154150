/**
 * How many blocks a Bloom filter needs. In a blocked filter some blocks get more keys than others, which costs more
 * false positives than a plain filter of the same size has; the sizing counts that in.
 */
import { BLOCK_WORDS } from "../engine/sketch-format.js";

/** How likely a bit of a word stays 0 when a key is added: it sets one of 32. */
const STAYS = 31 / 32;

/**
 * Probability that a key that was not added seems to be there, after `keys` distinct keys went into `blocks` blocks. A
 * block with i keys answers yes to (1 - (31/32)^i)^8 of the absent keys; i is Poisson-distributed with mean keys /
 * blocks.
 */
export function falsePositiveRate(keys: number, blocks: number): number {
  return rateAt(keys / blocks);
}

function rateAt(mean: number): number {
  const most = Math.ceil(mean + 12 * Math.sqrt(mean) + 24);
  let sum = 0;
  let logProbability = -mean;
  for (let i = 1; i <= most; i++) {
    logProbability += Math.log(mean / i);
    sum += Math.exp(logProbability) * (1 - STAYS ** i) ** BLOCK_WORDS;
  }
  return Math.min(1, sum);
}

/** Keys a block are a multiple of this: the same on every machine, though logarithms differ in their last bits. */
const STEP = 2 ** -16;

/** The fewest blocks with which `keys` distinct keys have at most this rate of false positives, 0 < rate < 1. */
export function blocksFor(keys: number, rate: number): number {
  if (keys === 0) return 1;
  let [enough, tooMany] = [0, 1];
  while (rateAt(tooMany) < rate && tooMany < 2 ** 16) tooMany *= 2;
  // the rate grows with the keys in a block
  for (let i = 0; i < 60; i++) {
    const middle = (enough + tooMany) / 2;
    if (rateAt(middle) <= rate) enough = middle;
    else tooMany = middle;
  }
  return Math.max(1, Math.ceil(keys / (Math.floor(enough / STEP) * STEP)));
}
