/** What a worker process is told by its environment. */

export const SETTINGS = "WARPMAP_WORKER";

export interface WorkerSettings {
  /** As `--device` names it: "auto", "cpu", "cuda:1". */
  readonly device: string;
  readonly software?: boolean;
  readonly threads: number;
  /** Bytes that its jobs may take. */
  readonly memory: number;
  /** Folders that paths of jobs have to lie in; undefined: any. */
  readonly data?: readonly string[];
  /** For temporary files of jobs that do not fit into memory. */
  readonly tmp?: string;
}

/** @throws Error where the process was started by hand */
export function workerSettings(env: NodeJS.ProcessEnv): WorkerSettings {
  const text = env[SETTINGS];
  if (text === undefined) throw new Error(`${SETTINGS} is not set: workers are started by "warpmap worker".`);
  return JSON.parse(text) as WorkerSettings;
}
