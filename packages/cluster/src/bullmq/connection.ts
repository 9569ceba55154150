/**
 * A connection to the server of a queue: BullMQ's two queues on one backend, after a look whether the server answers and
 * whether other software of ours works there with another protocol. All messages are without credentials.
 */
import {
  type BackendClasses,
  type BackendFactory,
  type ConnectionOptions,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  withBackend,
} from "bullmq";
import { ClusterError } from "../errors.js";
import { PROTOCOL } from "../jobs.js";
import { type Address, addressOf, withoutSecrets } from "./address.js";
import { EVENTS_KEPT, JOBS, PROTOCOL_FIELD, STAGES } from "./names.js";

/** A server that says nothing for so long is taken for unreachable. */
export const CONNECT_MS = 9000;

export type Classes = BackendClasses<IQueueBackend, ConnectionOptions>;
export type Queue = InstanceType<Classes["Queue"]>;
export type QueueEvents = InstanceType<Classes["QueueEvents"]>;

export interface Connection {
  readonly address: Address;
  /** BullMQ's classes on this server's kind of backend; with `options` they open connections of their own. */
  readonly classes: Classes;
  readonly options: { readonly connection: ConnectionOptions };
  readonly jobs: Queue;
  readonly stages: Queue;
  /** Adds flows on the connection of the queues. */
  flows(): InstanceType<Classes["FlowProducer"]>;
  /** Also ends clients of others made of `options`, where the server is away. */
  close(): Promise<void>;
}

/**
 * @param onError told of errors of the connection while it is open; BullMQ connects again by itself
 * @throws ClusterError QUEUE_URL, QUEUE_UNREACHABLE, QUEUE_DRIVER, QUEUE_PROTOCOL
 */
export async function connect(url: string, onError: (message: string) => void): Promise<Connection> {
  const address = addressOf(url);
  await within(CONNECT_MS, address, address.kind === "redis" ? askRedis(address) : askPostgres(address));

  const factory = (address.kind === "redis" ? createRedisBackend : createPostgresBackend) as BackendFactory;
  const classes = withBackend(factory);
  let isClosed = false;
  // clients that still try to connect would keep the process
  const retryStrategy = (times: number) => (isClosed ? null : Math.min(200 * times, 2000));
  const more = address.kind === "redis" ? { retryStrategy } : { migrate: true };
  const options = { connection: { ...address.connection, ...more } };
  const queueOptions = { ...options, streams: { events: { maxLen: EVENTS_KEPT } } };
  const jobs = new classes.Queue(JOBS, queueOptions);
  // on the same connection
  const shared = sharing((name) => jobs.getBackend().forQueue(name));
  const stages = new shared.Queue(STAGES, queueOptions);
  for (const queue of [jobs, stages])
    queue.on("error", ({ message }) => onError(withoutSecrets(message, address)));
  const close = async () => {
    isClosed = true;
    await soon(jobs.close());
  };
  try {
    await within(CONNECT_MS, address, jobs.waitUntilReady());
    await agreeOnProtocol(jobs, stages, address);
  } catch (error) {
    await close();
    throw error;
  }
  const flows = () => new (sharing(() => jobs.getBackend()).FlowProducer)(options);
  return { address, classes, options, jobs, stages, flows, close };
}

const sharing = (backend: (name: string) => IQueueBackend): Classes => withBackend(backend as BackendFactory);

/** Events from now on: of an id that the stream has, so that none between two reads is missed. */
export async function eventsOf({ classes, options, jobs }: Connection): Promise<QueueEvents> {
  const lastEventId = await jobs.getBackend().publishEvent({ event: "warpmap-listens" }, EVENTS_KEPT);
  return new classes.QueueEvents(JOBS, { ...options, lastEventId });
}

export function unreachable(address: Address, reason: string): ClusterError {
  return new ClusterError(
    "QUEUE_UNREACHABLE",
    `The queue at ${address.name} cannot be used: ${withoutSecrets(reason, address)}.`,
    "Start its server, or correct host, port, user and password of the URL.",
  );
}

/** What a promise answers, or an error of the address when it fails or takes too long. */
export async function within<T>(ms: number, address: Address, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } catch (error) {
    // without the cause: errors of clients hold the arguments of AUTH
    throw error instanceof ClusterError ? error : unreachable(address, reasonOf(error));
  } finally {
    clearTimeout(timer);
  }
}

/** Tries again while a connection is broken: clients of Redis do so by themselves, those of Postgres do not. */
export async function whenConnected<T>(attempt: () => Promise<T>, ms: number): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isOfConnection(error) || Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/** 57P01 to 57P03: Postgres shuts down or starts. */
function isOfConnection(error: unknown): boolean {
  const { code = "" } = error as { code?: string };
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|57P0)/.test(code) ||
    /ECONN|connection terminated|timeout exceeded/i.test(reasonOf(error))
  );
}

export async function soon(promise: Promise<unknown>, ms = 2000): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise.catch(() => {}), late]);
  clearTimeout(timer);
}

/** Errors of several addresses that were tried have no message of their own. */
export function reasonOf(error: unknown): string {
  const { errors, message, code } = error as { errors?: Error[]; message?: string; code?: string };
  return message || errors?.[0]?.message || code || String(error);
}

async function askRedis(address: Address): Promise<void> {
  const { Redis } = await import("ioredis");
  const client = new Redis({ ...address.connection, lazyConnect: true, retryStrategy: () => null });
  let reason: unknown;
  client.on("error", (error) => {
    reason = error;
  });
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}

async function askPostgres(address: Address): Promise<void> {
  const { default: pg } = await import("pg").catch(() => {
    throw new ClusterError(
      "QUEUE_DRIVER",
      "Queues on Postgres need the package pg, which is not installed.",
      "Run npm install pg, or use a queue on Redis.",
    );
  });
  const client = new pg.Client(address.connection);
  client.on("error", () => {});
  try {
    await client.connect();
  } finally {
    await soon(client.end(), 100);
  }
}

/**
 * The first who comes writes down the protocol. Another one is taken over once nothing of it is left: no run, no worker.
 * @throws ClusterError QUEUE_PROTOCOL
 */
async function agreeOnProtocol(jobs: Queue, stages: Queue, address: Address): Promise<void> {
  const found = await jobs.getBackend().getQueueMetaField(PROTOCOL_FIELD);
  if (found === String(PROTOCOL)) return;
  if (found !== null) {
    const [{ length: workers }, counts] = await Promise.all([jobs.getWorkers(), stages.getJobCounts()]);
    const left = Object.values(counts).reduce((sum, count) => sum + count, 0);
    if (workers + left > 0)
      throw new ClusterError(
        "QUEUE_PROTOCOL",
        `The queue at ${address.name} is used with protocol ${found} (${workers} workers, ${left} stages); this version speaks ${PROTOCOL}.`,
        "Use one version of warpmap-cluster everywhere: stop the others and clean their runs, or use another database.",
      );
  }
  await jobs.getBackend().setQueueMeta({ [PROTOCOL_FIELD]: String(PROTOCOL) });
}
