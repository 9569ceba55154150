/**
 * The tasks of workers that read or write a format. A worker does what it knew of when it started, so who wants one to read
 * and to write has to say so before.
 */
import type { TaskKind } from "../host/pool.js";
import type { Format } from "../io/formats.js";

type Tasks = Promise<readonly TaskKind<never, unknown>[]>;

export async function readTasks(format: Format): Tasks {
  if (format === "arrow") return [];
  if (format === "parquet") return [(await import("../io/parquet/parquet-read.js")).READ_TASKS];
  return [(await import("../io/csv/csv-read.js")).READ_TASKS];
}

export async function writeTasks(format: Format): Tasks {
  if (format === "arrow") return [];
  if (format === "parquet") return [(await import("../io/parquet/parquet-write-tasks.js")).WRITE_TASKS];
  return [(await import("../io/csv/csv-write.js")).WRITE_TASKS];
}
