/**
 * Work in rounds, which overlap: the exchange of one, the work on the one before it, and what brings results of the one
 * before that back. It knows nothing of what rounds are of.
 */
import { type Gpus, settled } from "./gpus.js";

/**
 * Elements, or rows of a table, of a GPU in a round: 128 MiB a column of 4 bytes. An estimate, not measured on several
 * GPUs.
 */
export const ROUND = 2 ** 25;

/** One round of work, and the memory that it takes. */
interface Round {
  /** @param isDone no stream works on it any more */
  release(isDone?: boolean): void;
}

/** What a round's work is made of. */
interface RoundWork<R extends Round> {
  /** Brings elements to their owners, by the streams of `on`. */
  exchange(round: number, on: Gpus): Promise<R>;
  /** What each GPU does with its own, one round after another. It may answer what brings results back. */
  work(round: R): Promise<(() => Promise<void>) | undefined>;
}

/**
 * Works in rounds. Where there are several, each is exchanged by other streams while the one before it is worked on and
 * results of the one before that go back; a round that begins has all that it reads, and what is given back nobody uses.
 */
export async function inRounds<R extends Round>(
  gpus: Gpus,
  rounds: number,
  { exchange, work }: RoundWork<R>,
): Promise<void> {
  const on = rounds > 1 ? gpus.lanes : gpus;
  const open = new Set<R>();
  const ahead = async (i: number) => {
    if (i >= rounds) return undefined;
    const round = await exchange(i, on);
    open.add(round);
    if (on !== gpus) await on.arrived();
    return round;
  };
  const behind = async (round: R | undefined, goBack: (() => Promise<void>) | undefined) => {
    if (!round) return;
    await goBack?.();
    if (goBack && on !== gpus) await on.arrived();
    round.release(on !== gpus);
    open.delete(round);
  };
  // what is read was written by these streams
  if (on !== gpus) gpus.fence();
  try {
    let before: R | undefined;
    let goBack: (() => Promise<void>) | undefined;
    let now = await ahead(0);
    for (let i = 0; now || before; i++) {
      const [next, answer] = await settled<unknown>([
        ahead(i + 1),
        now && work(now),
        behind(before, goBack),
      ] as Promise<unknown>[]);
      // results are there for the streams that bring them back
      if (on !== gpus) on.after(gpus);
      [before, goBack, now] = [now, answer as typeof goBack, next as R | undefined];
    }
  } finally {
    if (on !== gpus) gpus.fence();
    for (const round of open) round.release();
  }
}

/** What plans say of exchanges. */
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
