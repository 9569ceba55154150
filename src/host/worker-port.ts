/** A worker's side of what start-worker.ts starts, in Node's workers and in browsers'. */

/**
 * Says that the worker is up, and hands every message to `receive` until the thread is ended.
 * @param receive told a message, and how to answer; `transfer` holds buffers that go without a copy
 */
