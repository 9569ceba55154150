/**
 * Work in rounds, which overlap: the exchange of one, the work on the one before it, and what brings results of the two
 * before that back. It knows nothing of what rounds are of.
 */
import { type Gpus, settled } from "./gpus.js";

/**
 * Elements, or rows of a table, of a GPU in a round: 512 MiB a column of 4 bytes. Work goes over all slots of a table, or
 * ends with a wait, in each round, so fewer are faster: inserts of 2^28 keys took 6.4 ms in one and 7.5 in two
 * (bench/results/several-gpus-steps-h200.json).
 */
export const ROUND = 2 ** 27;
/**
 * The same where arrays come from the host, or go there: copies of one round then run beside those of others. Finds of 2^28
 * pinned keys took 22 ms, and 24 and 31 in rounds of a half and of a fourth, which leave more to JavaScript.
 */
export const HOST_ROUND = 2 ** 25;

interface Round {
  /** @param isDone no stream works on it any more */
  release(isDone?: boolean): void;
}

interface RoundWork<R extends Round> {
  /** Brings elements to their owners, by the streams of `on`. */
  exchange(round: number, on: Gpus): Promise<R>;
  /** What each GPU does with its own, one round after another. It may answer what brings results back. */
  work(round: R): Promise<GoBack | undefined>;
}

/** Brings results back, by the streams of `on`. */
export type GoBack = (on: Gpus) => Promise<void>;

/**
 * Works in rounds. Where there are several, each is exchanged by other streams while the one before it is worked on and
 * results of the two before that go back; a round that begins has all that it reads, and what is given back nobody uses.
 * A failure on the way back is told when the next round has been worked on.
 */
export async function inRounds<R extends Round>(
  gpus: Gpus,
  rounds: number,
  { exchange, work }: RoundWork<R>,
): Promise<void> {
  const isOne = rounds <= 1;
  const on = isOne ? gpus : gpus.lane("there");
  const open = new Set<R>();
  const ahead = async (i: number) => {
    if (i >= rounds) return undefined;
    const round = await exchange(i, on);
    open.add(round);
    if (!isOne) await on.arrived();
    return round;
  };
  const behind = async (round: R | undefined, goBack: GoBack | undefined) => {
    if (!round) return;
    const by = goBack && !isOne ? gpus.lane("back") : on;
    // results are there before they go back, and a round's memory was read before it is written again
    if (!isOne) by.after(gpus);
    await goBack?.(by);
    if (goBack && !isOne) await by.arrived();
    round.release(!isOne);
    open.delete(round);
  };
  /** Results on their way back: those of one round begin while those of the one before it are copied. */
  let back = Promise.resolve();
  // what is read was written by these streams
  if (!isOne) gpus.fence();
  try {
    let before: R | undefined;
    let goBack: GoBack | undefined;
    let now = await ahead(0);
    for (let i = 0; now || before; i++) {
      // results first: memory for them waits for what is submitted by then
      const last = back;
      back = behind(before, goBack);
      back.catch(() => {}); // told by the next round, or at the end
      const [, next, answer] = await settled<unknown>([
        last,
        ahead(i + 1),
        now && work(now),
      ] as Promise<unknown>[]);
      [before, goBack, now] = [now, answer as typeof goBack, next as R | undefined];
    }
    await back;
  } finally {
    await back.catch(() => {});
    if (!isOne) gpus.fence();
    for (const round of open) round.release();
  }
}

export function exchangeRemark(
  moved: number,
  total: number,
  what: string,
  gpus: number,
  rounds: number,
): string {
  const went = `${moved} of ${total} ${what} went to another of ${gpus} GPUs`;
  return rounds === 1 ? went : `${went} in ${rounds} rounds, each while the one before it was worked on`;
}
