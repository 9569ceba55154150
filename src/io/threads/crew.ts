/**
 * Workers that do the jobs of files. They start when a call has work for them, work for one call at a time, stay for the next one, and
 * end after some idle seconds: they hold on to memory until they collect their garbage. None keeps a process alive but one that has a
 * job. A call never waits for a worker to start: until it is up, the calling thread works alone, and so it does where workers are
 * refused.
 */
import { EngineError } from "../../errors.js";
import { workersRefused } from "../../threads/runtime.js";
import { startWorker, type WorkerHandle } from "../../threads/start-worker.js";
import { restored } from "./carried-error.js";
import type { FromFileWorker, ToFileWorker } from "./messages.js";

/** What workers run. Workers are kept by this object: one constant for each kind of work. */
export interface Program {
  /** The text of a worker's script (serve-jobs.ts). Loaded when the first worker starts. */
  readonly source: () => Promise<string>;
}

/** Jobs that a worker has at a time: one to do, and one to go on with. */
const DEPTH = 2;
/** After so long without a job workers end. */
const IDLE_MS = 10_000;

const crews = new WeakMap<Program, Crew<unknown, unknown>>();

/** The workers of a program. */
export function crewOf<In, Out>(program: Program): Crew<In, Out> {
  let crew = crews.get(program);
  if (crew === undefined) {
    crew = new Crew(program);
    crews.set(program, crew);
  }
  return crew as Crew<In, Out>;
}

export class Crew<In, Out> {
  readonly #idle = new Set<FileWorker<In, Out>>();
  /** Workers that live. */
  #alive = 0;
  #refused = workersRefused() !== null;
  #source: Promise<string> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly program: Program) {}

  /** Up to `most` workers, as many as no other call has. Those that have to start come later. */
  lend(most: number): Lease<In, Out> {
    clearTimeout(this.#timer);
    const lease = new Lease<In, Out>((workers) => this.#takeBack(workers));
    for (const worker of [...this.#idle].slice(0, most)) {
      this.#idle.delete(worker);
      lease.add(worker);
    }
    if (!this.#refused && this.#alive < most) void this.#start(lease, most);
    return lease;
  }

  async #start(lease: Lease<In, Out>, most: number): Promise<void> {
    try {
      this.#source ??= this.program.source();
      const source = await this.#source;
      while (!lease.ended && !this.#refused && this.#alive < most) lease.add(this.#newWorker(source));
    } catch {
      this.#refused = true; // the calling thread does the work
    }
  }

  #newWorker(source: string): FileWorker<In, Out> {
    const worker = new FileWorker<In, Out>(source, () => {
      this.#alive--;
      this.#idle.delete(worker);
      if (!worker.isUp) this.#refused = true;
    });
    this.#alive++;
    return worker;
  }

  #takeBack(workers: Iterable<FileWorker<In, Out>>): void {
    for (const worker of workers) {
      if (worker.ended) continue;
      // what it still does is of no use to anybody
      if (worker.jobs > 0) worker.end();
      else this.#idle.add(worker);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      for (const worker of [...this.#idle]) worker.end();
    }, IDLE_MS);
    (this.#timer as { unref?: () => void }).unref?.();
  }
}

/** The workers that one call has. */
export class Lease<In, Out> {
  ended = false;
  readonly #workers = new Set<FileWorker<In, Out>>();

  constructor(readonly giveBack: (workers: Iterable<FileWorker<In, Out>>) => void) {}

  add(worker: FileWorker<In, Out>): void {
    this.#workers.add(worker);
  }

  /** The worker that has least to do, where one can take another job. */
  free(): FileWorker<In, Out> | undefined {
    let free: FileWorker<In, Out> | undefined;
    for (const worker of this.#workers) {
      if (worker.isUp && !worker.ended && worker.jobs < (free?.jobs ?? DEPTH)) free = worker;
    }
    return free;
  }

  /** Ends workers that have jobs, and leaves the others to the next call. */
  end(): void {
    this.ended = true;
    this.giveBack(this.#workers);
  }
}

interface Answer<Out> {
  readonly resolve: (result: Out) => void;
  readonly reject: (error: unknown) => void;
}

/** One worker and the jobs that it has. */
class FileWorker<In, Out> {
  /** Whether it takes jobs. */
  isUp = false;
  ended = false;
  readonly #handle: WorkerHandle<ToFileWorker<In>>;
  readonly #answers = new Map<number, Answer<Out>>();
  #ids = 0;
  #why: Error | undefined;

  /** @param gone called once, when it has ended */
  constructor(
    source: string,
    readonly gone: () => void,
  ) {
    this.#handle = startWorker<ToFileWorker<In>, FromFileWorker<Out>>(source, {
      message: (message) => this.#receive(message),
      died: (reason) =>
        this.#end(new EngineError(`A worker thread that read or wrote a file died (${reason}).`)),
    });
  }

  get jobs(): number {
    return this.#answers.size;
  }

  /** Has it do a job, after those that it has. */
  work(input: In, transfer: readonly ArrayBuffer[]): Promise<Out> {
    const id = ++this.#ids;
    return new Promise<Out>((resolve, reject) => {
      if (this.ended) throw this.#why;
      this.#handle.post({ id, input }, transfer); // a promise rejects with what this throws
      this.#answers.set(id, { resolve, reject });
      this.#handle.hold(true);
    });
  }

  #receive(message: FromFileWorker<Out>): void {
    if (message.kind === "ready") {
      this.isUp = true;
      return;
    }
    const answer = this.#answers.get(message.id);
    this.#answers.delete(message.id);
    if (this.#answers.size === 0) this.#handle.hold(false);
    if (message.kind === "done") answer?.resolve(message.result);
    else answer?.reject(restored(message.error));
  }

  /** Ends it; nobody waits for its jobs any more. */
  end(): void {
    this.#end(new EngineError("A worker thread was ended while it read or wrote a file."));
    this.#handle.terminate();
  }

  #end(error: Error): void {
    if (this.ended) return;
    this.ended = true;
    this.#why = error;
    for (const { reject } of this.#answers.values()) reject(error);
    this.#answers.clear();
    this.gone();
  }
}
