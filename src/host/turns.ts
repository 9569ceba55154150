/** One task after another, in the order of the calls: for what only one may use at a time. */

/** Runs tasks of which each begins when those before have ended, however they did. */
export function takingTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = last.then(task);
    last = run.catch(() => {});
    return run;
  };
}
