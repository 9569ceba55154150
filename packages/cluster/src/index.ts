/** warpmap-cluster: joins, group-bys and distincts of warpmap on many processes and machines. Names only. */
export {
  type Cluster,
  type ClusterDistinctOptions,
  type ClusterGroupOptions,
  type ClusterJoinOptions,
  type ClusterOptions,
  type InputOptions,
  openCluster,
} from "./cluster.js";
export { ClusterError } from "./errors.js";
export { queueStatus } from "./maintain.js";
export type { QueueStatus, WorkerInfo } from "./queue.js";
export type { ClusterResult } from "./result.js";
export type { InputFiles } from "./run/inputs.js";
export type { Part } from "./run/output.js";
export type { RunCall } from "./run/run.js";
export type { ClusterProgress, StageReport } from "./run/stages.js";
export { startWorker, type Worker, type WorkerOptions } from "./worker/start.js";
