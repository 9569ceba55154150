/**
 * Engines by name. Those of this package are listed here, and loaded when they are opened. One of another package
 * registers itself when that package is imported: by the program, or by `openDevice({ backend: NAME })`, which looks
 * for `warpmap-NAME` (load-engine.ts).
 */
import { BackendUnavailableError, type TriedBackend } from "../errors.js";
import type { BareEngine, BulkDefaults, DeviceMemoryOptions } from "./engine.js";
import type { NativeOptions } from "./native.js";

/** The version of the seam (engine.ts). It grows with every change that engines of other packages have to follow. */
export const ENGINE_PROTOCOL = 1;

/** What an engine is asked for: the options of `openDevice` that are for engines, checked. */
export interface EngineRequest extends BulkDefaults, NativeOptions {
  readonly backend?: string;
  readonly threads?: number;
  readonly memory?: DeviceMemoryOptions;
  readonly seed?: number;
}

/** An engine, and in one sentence why it runs and not another. */
export interface OpenedEngine {
  /** Levels that it lacks run on the host. */
  readonly engine: BareEngine;
  readonly reason: string;
}

/** How an engine is chosen and opened. */
export interface EngineKind {
  /** The {@link ENGINE_PROTOCOL} that it was made for. */
  readonly protocol: number;
  /** `auto` asks engines in ascending order. The last one is always there. */
  readonly order: number;
  /** Options of `openDevice` that are for it, in words that spaces separate. */
  readonly options: string;
  /** Those of these that choose this engine where no backend is named; spaces separate them, too. */
  readonly chosenBy?: string;
  /** Checks its options; called when one is given, whichever engine is to open. @throws ValidationError */
  check?(options: EngineRequest): Promise<void>;
  /** Options that name its devices, where it may have several. @throws BackendUnavailableError */
  each?(): Promise<readonly EngineRequest[]>;
  /**
   * Opens it.
   * @param tried engines that `auto` has asked before
   * @throws BackendUnavailableError that says why it is not available, and how it may become so
   */
  open(request: EngineRequest, tried: readonly TriedBackend[]): Promise<OpenedEngine>;
}

/** The engine that works in the host's memory alone, and runs everywhere. */
export const HOST_ENGINE = "cpu";

const engines = new Map<string, EngineKind>([
  [
    "webgpu",
    {
      protocol: ENGINE_PROTOCOL,
      order: 1,
      options: "gpuDevice software powerPreference",
      chosenBy: "gpuDevice",
      check: async (options) => (await import("./webgpu/device/check-options.js")).checkOptions(options),
      open: async (request) => (await import("./webgpu/device/adapter.js")).openWebgpu(request),
    },
  ],
  [
    HOST_ENGINE,
    {
      protocol: ENGINE_PROTOCOL,
      order: 9,
      options: "threads",
      async open(request, tried) {
        const engine = await (await import("./cpu/cpu-engine.js")).openCpuEngine(request);
        const why = tried.map(({ reason }) => reason).join("; ");
        return { engine, reason: why ? `No GPU: ${why}.` : "The cpu engine was asked for." };
      },
    },
  ],
]);

/**
 * Makes an engine known to this copy of warpmap; answers what takes it away again.
 * @throws BackendUnavailableError when it is for another version of the seam
 */
export function registerEngine(name: string, kind: EngineKind): () => void {
  const { protocol } = kind;
  if (protocol !== ENGINE_PROTOCOL) {
    const reason = `it is for protocol ${protocol} of engines, and this warpmap has ${ENGINE_PROTOCOL}`;
    const fix = "Install versions of warpmap and of the engine's package that go together.";
    throw new BackendUnavailableError(name, [{ backend: name, reason }], fix);
  }
  engines.set(name, kind);
  return () => void engines.delete(name);
}

/** The engine of a name, if it is known. */
export const engineNamed = (name: string): EngineKind | undefined => engines.get(name);

/** All that are known, in the order in which `auto` asks them. */
export const knownEngines = (): [name: string, kind: EngineKind][] =>
  [...engines].sort(([, a], [, b]) => a.order - b.order);
