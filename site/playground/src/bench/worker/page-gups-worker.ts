/** A thread of gups on a page: does the tasks it is sent, and answers each with its result. */
import { perform, type Task } from "../../../../../bench/gups-cpu-loops.js";

addEventListener("message", ({ data }: MessageEvent<Task>) => {
  postMessage(perform(data));
});
