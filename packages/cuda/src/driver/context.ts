/**
 * One GPU, opened: its primary context, which it shares with other libraries of the process, and one stream, on which
 * everything runs in the order of the calls. Results of calls become errors here: memory that is not there is told
 * apart, a fault of the GPU (an illegal address, an ECC error) loses the context and all that is on it, and nothing
 * else.
 */
import { DeviceLostError, EngineError } from "warpmap/engine";
import { type Driver, describe, readNumber } from "./driver.js";
import {
  ACCESS_READ_WRITE,
  type DriverApi,
  EVENT_BLOCKING_SYNC,
  EVENT_DISABLE_TIMING,
  FAULTS,
  LOCATION_DEVICE,
  NO_PEERS,
  Result,
  STREAM_NON_BLOCKING,
} from "./ffi.js";
import { Waiting } from "./waiting.js";

/** Why a context is of no more use. */
export interface Loss {
  readonly reason: string;
  readonly message: string;
}

/** Contexts that are open: those of one GPU are one to the driver, and fail together. */
const open = new Set<CudaContext>();

export class CudaContext {
  readonly api: DriverApi;
  readonly lost: Promise<Loss>;
  readonly stream: number;
  readonly #context: number;
  readonly #waiting: Waiting;
  /** Events that nobody uses. */
  readonly #events: number[] = [];
  /** What ends the waits that are under way. */
  readonly #guarded = new Set<(error: DeviceLostError) => void>();
  /** Times that work may have been submitted, and how many of them a wait has covered. */
  #submitted = 0;
  #covered = 0;
  #loss: Loss | undefined;
  #announce!: (loss: Loss) => void;

  /**
   * @param isAhead kernels of its stream begin before those of other streams that are given, but have not begun
   * @throws EngineError when the GPU does not open
   */
  constructor(
    readonly driver: Driver,
    readonly device: number,
    isAhead = false,
  ) {
    const { api } = driver;
    this.api = api;
    this.lost = new Promise((resolve) => {
      this.#announce = resolve;
    });
    const asked = (what: string, call: (into: BigUint64Array) => number) =>
      readNumber((into) => this.#expect(what, call(into)));
    this.#context = asked("Opening the GPU", (into) => api.cuDevicePrimaryCtxRetain(into, device));
    this.enter();
    this.stream = asked("Making a stream", (into) =>
      api.cuStreamCreateWithPriority(into, STREAM_NON_BLOCKING, isAhead ? -1 : 0),
    );
    this.#waiting = new Waiting(driver, this.#context);
    open.add(this);
  }

  /** Makes the context this thread's: other devices, and other libraries, have theirs. */
  enter(): void {
    this.checkAlive();
    this.#submitted++;
    this.api.cuCtxSetCurrent(this.#context);
  }

  /** Grows with all that is submitted. */
  get submitted(): number {
    return this.#submitted;
  }

  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  /** @throws DeviceLostError */
  checkAlive(): void {
    if (this.#loss) throw this.#lossError();
  }

  /** Waits for `promise`, but no longer than the context lives. */
  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#loss) reject(this.#lossError());
      this.#guarded.add(reject);
      promise.then(resolve, reject).finally(() => this.#guarded.delete(reject));
    });
  }

  #lossError(): DeviceLostError {
    return new DeviceLostError(this.#loss?.reason ?? "unknown", this.#loss?.message ?? "");
  }

  /**
   * Looks at what a call of the driver answered. @throws EngineError when it was refused, DeviceLostError when the GPU
   * is
   */
  check(what: string, result: number): void {
    if (FAULTS.includes(result)) this.lose(what, result);
    this.#expect(what, result);
  }

  #expect(what: string, result: number): void {
    this.checkAlive();
    if (result !== Result.SUCCESS) throw new EngineError(`${what} failed: ${describe(this.driver, result)}`);
  }

  /** True when the memory was there; false when the GPU, or the host, has too little. */
  allocated(what: string, result: number): boolean {
    if (result === Result.OUT_OF_MEMORY) return false;
    this.check(what, result);
    return true;
  }

  /** An event on the stream: what was submitted is done when it comes. */
  record({ timed = false } = {}): number {
    this.enter();
    const flags = timed ? 0 : EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING;
    const event =
      (timed ? undefined : this.#events.pop()) ??
      readNumber((into) => this.check("Making an event", this.api.cuEventCreate(into, flags)));
    this.check("Recording an event", this.api.cuEventRecord(event, this.stream));
    return event;
  }

  /** Resolves when all that was submitted is done. @throws DeviceLostError when the GPU failed at it */
  async arrived(what: string): Promise<void> {
    const event = this.record();
    const submitted = this.#submitted;
    // a wait begins without a turn: what goes on besides, on other GPUs for one, submits its work first
    await new Promise(process.nextTick);
    this.checkAlive();
    const waiting = this.#waiting.wait(event);
    const result = typeof waiting === "number" ? waiting : await this.guard(waiting);
    this.#events.push(event);
    this.check(what, result);
    this.#covered = Math.max(this.#covered, submitted);
  }

  /** Something was submitted since a wait. */
  get isBusy(): boolean {
    return this.#covered < this.#submitted;
  }

  /** Resolves as `arrived`, at once where nothing was. */
  async idle(what: string): Promise<void> {
    this.checkAlive();
    if (this.isBusy) await this.arrived(what);
  }

  /** What is submitted here later runs after all that was submitted to `other` by now. */
  after(other: CudaContext): void {
    if (other === this) return;
    this.#submitted++;
    const event = other.record();
    this.check("Waiting for another GPU", this.api.cuStreamWaitEvent(this.stream, event, 0));
    other.#events.push(event);
  }

  /** Copies between memory of GPUs on this stream, whether they reach each other or not. */
  copyBetween(from: CudaContext, source: number, to: CudaContext, target: number, bytes: number): void {
    const { api, stream } = this;
    const [at, into] = [from.#context, to.#context];
    const result =
      at === into
        ? api.cuMemcpyAsync(target, source, bytes, stream)
        : api.cuMemcpyPeerAsync(target, into, source, at, bytes, stream);
    this.check("Copying", result);
  }

  /** Lets this GPU read and write the other's memory; false where they have no way to each other. */
  reach(other: CudaContext): boolean {
    const { api, device } = this;
    if (other.device === device) return true;
    const can = readNumber((into) => api.cuDeviceCanAccessPeer(into, device, other.device)) === 1;
    if (!can) return false;
    this.enter();
    const enabled = api.cuCtxEnablePeerAccess(other.#context, 0);
    if (NO_PEERS.includes(enabled)) return false;
    if (enabled !== Result.PEER_ACCESS_ALREADY_ENABLED) this.check("Reaching another GPU", enabled);
    other.enter();
    const pool = readNumber((into) =>
      this.check("Finding a GPU's memory", api.cuDeviceGetDefaultMemPool(into, other.device)),
    );
    const access = Int32Array.of(LOCATION_DEVICE, device, ACCESS_READ_WRITE);
    this.check("Reaching another GPU's memory", api.cuMemPoolSetAccess(pool, access, 1));
    return true;
  }

  /** The GPU failed: all calls on its contexts reject from now on, and the next context is a new one. */
  lose(what: string, result: number): void {
    const { api, device, driver } = this;
    const message = `${what} failed on GPU ${device}: ${describe(driver, result)}`;
    for (const each of open) if (each.device === device) each.#end({ reason: "unknown", message });
    api.cuDevicePrimaryCtxReset_v2(device);
  }

  /**
   * Gives the context back, once `free` has freed what is on it. Idempotent.
   * @param loss what calls that are under way are told
   */
  destroy(free: () => void, loss: Loss = { reason: "destroyed", message: "" }): void {
    if (this.#loss) return;
    this.enter();
    // behind a loss the stream may wait for a GPU that is gone
    if (loss.reason === "destroyed") this.api.cuStreamSynchronize(this.stream);
    free();
    this.#end(loss);
  }

  #end(loss: Loss): void {
    if (this.#loss) return;
    this.#loss = loss;
    open.delete(this);
    const { api } = this;
    this.#waiting.close();
    api.cuCtxSetCurrent(this.#context);
    for (const event of this.#events) api.cuEventDestroy_v2(event);
    api.cuStreamDestroy_v2(this.stream);
    api.cuDevicePrimaryCtxRelease_v2(this.device);
    for (const reject of this.#guarded) reject(this.#lossError());
    this.#announce(loss);
  }
}
