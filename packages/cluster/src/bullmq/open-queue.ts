/**
 * Jobs by BullMQ, on Redis or Postgres. A stage is a flow of BullMQ: its jobs lie in the queue `warpmap`, and their parent
 * in `warpmap-stages`. Jobs stay until their run is forgotten, at most a day after they ended.
 */
import { type Job, UnrecoverableError } from "bullmq";
import { ClusterError } from "../errors.js";
import type { JobResult } from "../jobs.js";
import type { JobQueue, QueuedRun, QueueStatus, Stage, StageCall, WorkerInfo } from "../queue.js";
import {
  CONNECT_MS,
  type Connection,
  connect,
  eventsOf,
  type QueueEvents,
  soon,
  unreachable,
  whenConnected,
  within,
} from "./connection.js";
import {
  EVENTS_KEPT,
  FORGET_RUN,
  JOBS,
  jobId,
  partOf,
  runOf,
  STAGES,
  STOP_STAGE,
  stageId,
  stageOf,
} from "./names.js";
import { type JobState, StageFollower } from "./stage-follower.js";
import { connectedWorkers } from "./worker-list.js";

const ATTEMPTS = 4;
const BACKOFF = { type: "exponential", delay: 500 } as const;
/** Seconds that jobs are kept which nobody forgets: of coordinators that died. */
const KEPT = { age: 24 * 3600 };
/** A server that is away for so long while jobs are added is taken for lost. */
const ADD_MS = 60_000;
/** Jobs of a forgotten run that workers have not left off are waited for so long; workers remove them afterwards. */
const FORGET_MS = 5000;
/** How long clients may take to connect. */
const READY_MS = 10_000;

/** What dashboards may show of parents. */
const STATES = ["waiting-children", "waiting", "active", "delayed", "completed", "failed"] as const;

/**
 * Opens a queue by its URL: redis://, rediss://, postgres:// or postgresql://.
 * @throws ClusterError QUEUE_URL, QUEUE_UNREACHABLE, QUEUE_DRIVER, QUEUE_PROTOCOL
 */
export async function openBullQueue(url: string): Promise<BullQueue> {
  let heard: (message: string) => void = () => {};
  const connection = await connect(url, (message) => heard(message));
  const queue = new BullQueue(connection, await eventsOf(connection));
  heard = (message) => queue.heard(message);
  await within(READY_MS, connection.address, queue.ready());
  return queue;
}

export class BullQueue implements JobQueue {
  readonly name: string;
  readonly #connection: Connection;
  readonly #events: QueueEvents;
  readonly #flows: InstanceType<Connection["classes"]["FlowProducer"]>;
  /** Of BullMQ: ends parents whose jobs are done. */
  readonly #parents: InstanceType<Connection["classes"]["Worker"]>;
  readonly #followers = new Map<string, StageFollower>();
  readonly #stopped = new Set<string>();
  #trouble = "it gives no answer";

  constructor(connection: Connection, events: QueueEvents) {
    const { address, classes, options, jobs } = connection;
    this.name = address.name;
    this.#connection = connection;
    this.#events = events;
    this.#flows = connection.flows();
    this.#parents = new classes.Worker(STAGES, (job: Job) => this.#endParent(job), {
      ...options,
      // a parent ends at once; without their timers the process can end while the server is away
      ...{ skipStalledCheck: true, skipLockRenewal: true },
    });
    const onError = ({ message }: Error) => this.heard(message);
    events.on("error", onError);
    this.#flows.on("error", onError);
    this.#parents.on("error", onError);
    const follower = (id: string) => this.#followers.get(stageOf(id));
    events.on("completed", ({ jobId: id, returnvalue }) =>
      follower(id)?.completed(partOf(id), returnvalue as unknown as JobResult),
    );
    events.on("failed", ({ jobId: id, failedReason }) => follower(id)?.failed(partOf(id), failedReason));
    events.on("stalled", ({ jobId: id }) => follower(id)?.retried(partOf(id), "its worker was lost"));
    // after an attempt that failed
    events.on("delayed", async ({ jobId: id }) => {
      if (!follower(id)) return;
      const job: Job | undefined = await jobs.getJob(id).catch(() => undefined);
      follower(id)?.retried(partOf(id), job?.failedReason ?? "its attempt failed");
    });
  }

  /** All clients are connected: one that is closed before would stay. */
  async ready(): Promise<void> {
    await Promise.all([this.#events.waitUntilReady(), this.#parents.waitUntilReady()]);
  }

  /** Of errors of connections, which BullMQ gets over: the last is told when the queue stays away. */
  heard(message: string): void {
    if (message) this.#trouble = message;
  }

  async run(stage: Stage, call: StageCall): Promise<JobResult[]> {
    call.signal?.throwIfAborted();
    if (stage.jobs.length === 0) return [];
    const { address, jobs } = this.#connection;
    const id = stageId(stage.run, stage.name);
    const stateOf = async (part: number) => {
      const state = await jobs.getBackend().isFinished(jobId(id, part), true);
      return (Array.isArray(state) ? state : [state]) as unknown as JobState;
    };
    const follower = new StageFollower(stage, call, stateOf, () => unreachable(address, this.#trouble));
    this.#followers.set(id, follower);
    const adding = this.#add(stage, id);
    adding.then(
      () => follower.begin(),
      (error) => follower.fail(error),
    );
    try {
      return await follower.done;
    } catch (error) {
      await soon(adding);
      await soon(this.#stop(id), FORGET_MS);
      throw error;
    } finally {
      this.#followers.delete(id);
    }
  }

  async workers(): Promise<WorkerInfo[]> {
    return this.#answer(connectedWorkers(this.#connection.jobs));
  }

  /** What workers have not left off within seconds they remove when they have; until then `runs` lists it. */
  async forget(run: string): Promise<void> {
    await within(CONNECT_MS + FORGET_MS, this.#connection.address, this.#forget(run));
  }

  /** Runs that the queue still has anything of, the oldest first. */
  runs(): Promise<QueuedRun[]> {
    return this.#answer(this.#runs());
  }

  /** Numbers of jobs of all runs. */
  async status(): Promise<QueueStatus> {
    const states = ["wait", "delayed", "active", "completed", "failed"] as const;
    const counts = await this.#answer(this.#connection.jobs.getJobCounts(...states));
    const { wait = 0, delayed = 0, active = 0, completed = 0, failed = 0 } = counts;
    return { waiting: wait + delayed, active, completed, failed };
  }

  async close(): Promise<void> {
    for (const follower of this.#followers.values()) follower.fail(closed(this.name));
    await Promise.all([soon(this.#events.close()), soon(this.#parents.close())]);
    await this.#connection.close();
  }

  async #add({ run, name, jobs }: Stage, id: string): Promise<void> {
    const options = { attempts: ATTEMPTS, backoff: BACKOFF, failParentOnFailure: true };
    const kept = { removeOnComplete: KEPT, removeOnFail: KEPT };
    const add = () =>
      this.#flows.add({
        ...{ name, queueName: STAGES, data: { run }, opts: { jobId: id, ...kept } },
        children: jobs.map((data, part) => ({
          ...{ name: `${name} ${part}`, queueName: JOBS, data },
          opts: { jobId: jobId(id, part), ...options, ...kept },
        })),
      });
    // a server that restarts may have taken the jobs or not: by their ids they are added once
    await within(ADD_MS, this.#connection.address, whenConnected(add, ADD_MS));
  }

  /** None of its jobs begins any more. Workers are told to leave off those they work on. */
  async #stop(stage: string): Promise<void> {
    this.#stopped.add(stage);
    await this.#connection.jobs.getBackend().publishEvent({ event: STOP_STAGE, stage }, EVENTS_KEPT);
    await this.#removeWaiting(stage);
  }

  async #removeWaiting(stage: string): Promise<void> {
    await this.#connection.stages.getBackend().removeUnprocessedChildren(stage);
  }

  async #forget(run: string): Promise<void> {
    const { jobs, stages } = this.#connection;
    const ids = (await this.#stageIds()).filter((id) => runOf(id) === run);
    if (ids.length === 0) return;
    await jobs.getBackend().publishEvent({ event: FORGET_RUN, run }, EVENTS_KEPT);
    const end = Date.now() + FORGET_MS;
    for (const id of ids) {
      await this.#removeWaiting(id);
      // fails while a worker has one of its jobs, or a coordinator the parent
      while ((await stages.remove(id)) === 0 && Date.now() < end && (await stages.getJob(id)))
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #runs(): Promise<QueuedRun[]> {
    const ids = await this.#stageIds();
    const found = new Map<string, number>();
    const jobs: (Job | undefined)[] = await Promise.all(ids.map((id) => this.#connection.stages.getJob(id)));
    for (const job of jobs)
      if (job?.id) {
        const age = Math.max(0, (Date.now() - job.timestamp) / 1000);
        const run = runOf(job.id);
        found.set(run, Math.max(found.get(run) ?? 0, age));
      }
    return Array.from(found, ([run, age]) => ({ run, age })).sort((a, b) => b.age - a.age);
  }

  /** What the server says, while it does: commands wait for a server that is away. */
  #answer<T>(promise: Promise<T>): Promise<T> {
    return within(CONNECT_MS, this.#connection.address, promise);
  }

  #stageIds(): Promise<string[]> {
    return this.#connection.stages.getRanges([...STATES], 0, -1);
  }

  async #endParent({ id }: Job): Promise<void> {
    if (id !== undefined && this.#stopped.has(id)) throw new UnrecoverableError("The stage was stopped.");
  }
}

function closed(name: string): ClusterError {
  return new ClusterError(
    "QUEUE_CLOSED",
    `The queue at ${name} was closed while a stage ran.`,
    "Close it after the run.",
  );
}
