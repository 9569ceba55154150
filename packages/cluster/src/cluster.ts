/** Joins, group-bys and distincts on many workers, in programs. */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { pathToFileURL } from "node:url";
import type { AskedType } from "warpmap/io";
import type { Aggregate, JoinKey, JoinKind } from "warpmap/relational";
import { asGroups, checkOptions, neededColumns } from "warpmap/stages";
import { checkWorkers, EmbeddedQueue } from "./embedded/embedded-queue.js";
import { ClusterError } from "./errors.js";
import { openExchange } from "./exchange/open-exchange.js";
import type { Exchange } from "./exchange.js";
import { machineMemory } from "./machine.js";
import { clean } from "./maintain.js";
import type { JobQueue, WorkerInfo } from "./queue.js";
import { type ClusterResult, resultOf } from "./result.js";
import type { AskedInput, InputFiles } from "./run/inputs.js";
import { SIZES, type Sizes, type Workers } from "./run/layout.js";
import { type Asked, forget, keepAlive, newRun, type RunCall, ran } from "./run/run.js";

/** What `openCluster` takes. Without a queue workers are processes of this machine. */
export interface ClusterOptions {
  /** `redis://`, `rediss://` or `postgres://`: workers are started with `warpmap worker --queue` on any machines. */
  readonly queue?: string;
  /** Where workers hand files to each other: `file:///shared/dir`, `s3://bucket/prefix`. Needed with a queue. */
  readonly exchange?: string;
  /** Processes on this machine, without a queue. Default: one for each core. */
  readonly workers?: number;
  /** Bytes that each process on this machine works within. Default: half of the machine's memory, divided. */
  readonly memory?: number;
  /** Threads of each of them. Default: the cores, divided. */
  readonly threads?: number;
  /** Their engine, as `--device` names it. Default: `"auto"`. */
  readonly device?: string;
  readonly software?: boolean;
  /** For tests: how the work is divided. @internal */
  readonly sizes?: Sizes;
}

/** How an input's files are read. */
export interface InputOptions {
  /** Types of csv columns in place of inferred ones. */
  readonly types?: Readonly<Record<string, AskedType>>;
  readonly delimiter?: string;
  readonly quote?: string;
  readonly header?: boolean;
}

/** What `Cluster.join` takes; see `join` of warpmap/relational. */
export interface ClusterJoinOptions extends RunCall, InputOptions {
  readonly on: readonly JoinKey[];
  readonly how?: JoinKind;
  readonly select?: readonly string[];
  readonly nullsEqual?: boolean;
}

/** What `Cluster.group` takes; see `groupBy` of warpmap/relational. */
export interface ClusterGroupOptions extends RunCall, InputOptions {
  readonly by: readonly string[];
  readonly aggregate: Readonly<Record<string, Aggregate>>;
}

/** What `Cluster.distinct` takes; see `distinct` of warpmap/relational. */
export interface ClusterDistinctOptions extends RunCall, InputOptions {
  readonly on?: readonly string[];
  readonly select?: readonly string[];
}

/**
 * Opens a cluster: workers of this machine, or those of a queue.
 * @throws ClusterError when the queue or the exchange cannot be used
 * @example
 * const cluster = await openCluster({ workers: 2 });
 * const result = await cluster.group("sales.parquet", { by: ["shop"], aggregate: { total: sum("price") } });
 */
export async function openCluster(options: ClusterOptions = {}): Promise<Cluster> {
  checkOptions(options, "queue exchange workers memory threads device software sizes");
  const { queue: url, exchange: place } = options;
  if (url === undefined) return embedded(options);
  if (place === undefined) {
    throw new ClusterError(
      "EXCHANGE",
      "There is a queue, and no exchange.",
      "Give the folder or bucket that all workers see: file:///shared/dir or s3://bucket/prefix.",
    );
  }
  const exchange = await openExchange(place);
  const { openBullQueue } = await import("./bullmq/open-queue.js");
  return new Cluster(await openBullQueue(url), exchange, options.sizes ?? SIZES, () => exchange.close());
}

/** Workers that a cluster on this machine has, where nothing is said. */
async function embedded(options: ClusterOptions): Promise<Cluster> {
  const cores = availableParallelism();
  const { workers = cores, device = "auto", software } = options;
  checkWorkers(workers);
  const memory = options.memory ?? Math.floor(machineMemory() / 2 / workers);
  const threads = options.threads ?? Math.max(1, Math.floor(cores / workers));
  const folder = options.exchange ?? (await mkdtemp(joinPath(tmpdir(), "warpmap-")));
  const exchange = await openExchange(folder.includes("://") ? folder : pathToFileURL(folder).href);
  const queue = new EmbeddedQueue(workers, { device, software, threads, memory });
  return new Cluster(queue, exchange, options.sizes ?? SIZES, async () => {
    await exchange.close();
    if (options.exchange === undefined) await rm(folder, { recursive: true, force: true });
  });
}

/** Workers, and where they hand files to each other. */
export class Cluster {
  readonly #queue: JobQueue;
  readonly #exchange: Exchange;
  readonly #sizes: Sizes;
  readonly #close: () => Promise<void>;

  /** @internal */
  constructor(queue: JobQueue, exchange: Exchange, sizes: Sizes, close: () => Promise<void>) {
    this.#queue = queue;
    this.#exchange = exchange;
    this.#sizes = sizes;
    this.#close = close;
  }

  /**
   * Joins files. Rows come in any order.
   * @throws ClusterError when a job failed for good, ValidationError for wrong options, FileError and FormatError for
   * files that cannot be read; the signal's reason
   */
  async join(left: InputFiles, right: InputFiles, options: ClusterJoinOptions): Promise<ClusterResult> {
    const { on, how = "inner", select, nullsEqual = false, ...others } = options;
    const { reading, call } = divided(others);
    const pairs = on.map((key): readonly [string, string] => (typeof key === "string" ? [key, key] : key));
    return this.#run(call, {
      inputs: [
        { files: left, name: "the left side", reading },
        { files: right, name: "the right side", reading },
      ],
      stages: ["partition left", "partition right"],
      stage: "join",
      planned: ([left, right]) => {
        const operator = { kind: "join", on: pairs, how, select, nullsEqual } as const;
        const likes = { left: left.like, right: right.like };
        const needed = neededColumns(likes, { on: pairs, how, select, nullsEqual });
        return { operator, columns: [needed.left, needed.right] };
      },
    });
  }

  /** Groups the rows of files. Groups come in any order. @throws as `join` */
  async group(files: InputFiles, options: ClusterGroupOptions): Promise<ClusterResult> {
    const { by, aggregate, ...others } = options;
    const { reading, call } = divided(others);
    return this.#run(call, {
      ...oneInput({ files, name: "the input", reading }, "group"),
      planned: () => {
        const asked = Object.values(aggregate).flatMap(({ column }) => column ?? []);
        const operator = { kind: "group", by, aggregate } as const;
        return { operator, columns: [[...new Set([...by, ...asked])]] };
      },
    });
  }

  /** Leaves out rows that equal an earlier one. Rows come in any order. @throws as `join` */
  async distinct(files: InputFiles, options: ClusterDistinctOptions = {}): Promise<ClusterResult> {
    const { on, select, ...others } = options;
    const { reading, call } = divided(others);
    return this.#run(call, {
      ...oneInput({ files, name: "the input", reading }, "distinct"),
      planned: ([{ like }]) => {
        const names = like.names.map(String);
        const compared = on ?? names;
        const needed = names.filter((name) => compared.includes(name) || (select ?? names).includes(name));
        const { by, aggregate } = asGroups(needed, compared);
        const operator = { kind: "group", by, aggregate, select: select ?? names } as const;
        const unknown = [...compared, ...(select ?? [])].filter((name) => !names.includes(name));
        return { operator, columns: [[...needed, ...unknown]] };
      },
    });
  }

  /** Workers that are there now. */
  workers(): Promise<WorkerInfo[]> {
    return this.#queue.workers();
  }

  /** Removes what dead coordinators left in the queue and the exchange; answers with the names of their runs. */
  async clean(): Promise<string[]> {
    return clean(this.#queue, this.#exchange, await this.#queue.runs());
  }

  /** Ends the workers of this machine; those of a queue go on. */
  async close(): Promise<void> {
    await this.#queue.close();
    await this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run(call: RunCall, asked: Asked): Promise<ClusterResult> {
    const around = { queue: this.#queue, exchange: this.#exchange, workers: () => this.#capacity() };
    const run = newRun();
    const stop = await keepAlive(run, this.#exchange);
    const clear = () => {
      stop();
      return forget(run, around);
    };
    try {
      return await resultOf(await ran(run, asked, call, around), call, this.#exchange, clear);
    } catch (error) {
      // the first error is the one to tell
      await clear().catch(() => {});
      throw error;
    }
  }

  /** How many workers there are, and what the smallest may take. */
  async #capacity(): Promise<Workers> {
    const sizes = this.#sizes;
    if (this.#queue instanceof EmbeddedQueue) {
      const { count, settings } = this.#queue;
      return { count, memory: settings.memory, sizes };
    }
    const there = await this.#queue.workers();
    const least = Math.min(...there.map(({ memory }) => memory));
    const count = there.reduce((sum, { jobs }) => sum + jobs, 0);
    return { count: Math.max(1, count), memory: there.length > 0 ? least : UNKNOWN_MEMORY, sizes };
  }
}

/** Of workers that come later. */
const UNKNOWN_MEMORY = 2 ** 30;

function oneInput(input: AskedInput, stage: string) {
  return { inputs: [input], stages: ["partition"], stage };
}

/** Options of reading, and those of the call. */
function divided(options: RunCall & InputOptions) {
  checkOptions(options, "types delimiter quote header out format signal onProgress");
  const { types, delimiter, quote, header, ...call } = options;
  return { reading: { types, delimiter, quote, header }, call };
}
