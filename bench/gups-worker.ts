/** A worker thread of gups: does the tasks it is sent, and answers each with its result. */
import { parentPort } from "node:worker_threads";
import { perform, type Task } from "./gups-cpu-loops.js";

parentPort?.on("message", (task: Task) => parentPort?.postMessage(perform(task)));
