/** A process's first calls, made on a driver without a GPU while the real one makes its contexts. */
import { availableParallelism } from "node:os";
import { type EngineInfo, loadWarmUp } from "warpmap/engine";
import { CudaEngine } from "./cuda-engine.js";
import { CudaContext } from "./driver/context.js";
import type { Driver, GpuFacts } from "./driver/driver.js";
import { dryDriver } from "./driver/dry-driver.js";
import { CudaRuntime } from "./runtime/cuda-runtime.js";

/** The number of no GPU, so that a loss of one does not end the calls' context. */
const NO_GPU = -1;

/** What is known of a GPU before it opens. */
interface Described {
  readonly facts: GpuFacts;
  readonly info: EngineInfo;
}

let isDone = false;

/**
 * Has JavaScript compile what first calls run. Once a process: after that there is nothing left to compile. Not where
 * the driver would wait for it, with one processor.
 * @param signal says that the contexts are there
 */
export async function warmUpOnce(gpu: Described, signal: AbortSignal): Promise<void> {
  if (isDone || availableParallelism() === 1) return;
  isDone = true;
  await warmUpOn(dryDriver(), gpu, signal);
}

/** The calls, on a driver that does what it is asked for or does nothing. */
export async function warmUpOn(
  driver: Driver,
  { facts, info }: Described,
  signal: AbortSignal,
): Promise<void> {
  const { warmUp } = await loadWarmUp();
  const runtime = new CudaRuntime(new CudaContext(driver, NO_GPU), facts, 0);
  await warmUp(new CudaEngine(runtime, info, {}), signal);
}
