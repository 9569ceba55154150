/**
 * A worker's side of a kind of task. The script of a kind is a module that calls `provide`, bundled to one classic script; a worker's
 * text is those of the kinds that it does, and worker.ts after them. They are scripts of their own, so they meet in the global object.
 */

/** What a worker does with a task of a kind. */
export interface Provided<In = never, Out = unknown> {
  /** The work of a task. `next` is a shared job's: it holds the number of the next piece to take. */
  readonly run: (input: In, next: Int32Array) => Out | Promise<Out>;
  /** Views of a result whose buffers go to the caller without a copy. */
  readonly views: (result: Out) => readonly (ArrayBufferView | null | undefined)[];
}

const place = globalThis as { warpmapTasks?: Map<string, Provided> };

/** What this worker does, by the names of kinds. */
// biome-ignore lint/suspicious/noAssignInExpressions: the first script that comes makes it
export const provided: Map<string, Provided> = (place.warpmapTasks ??= new Map());

/** Says how tasks of a kind are done. */
export function provide<In, Out>(
  kind: string,
  run: Provided<In, Out>["run"],
  views: Provided<In, Out>["views"] = () => [],
): void {
  provided.set(kind, { run, views } as Provided);
}
