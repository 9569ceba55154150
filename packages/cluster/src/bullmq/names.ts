/**
 * Names in the queue's server: two BullMQ queues, ids of jobs, events. Ids are made of the run, the stage and the part,
 * so that whoever knows a run finds its jobs, and dashboards show what belongs together. A stage is a flow: its parent
 * lies in the queue of stages, its jobs are the children.
 */

/** BullMQ's queue of the jobs. */
export const JOBS = "warpmap";
/** BullMQ's queue of stages: parents of jobs, which no worker processes. */
export const STAGES = "warpmap-stages";
/** Fields of the meta data of the queue of jobs. */
export const PROTOCOL_FIELD = "warpmap-protocol";
export const WORKER_FIELD = "warpmap-worker ";

/** Events in BullMQ's stream besides its own: workers stop the jobs of a stage, or of a run that is forgotten. */
export const STOP_STAGE = "warpmap-stop";
export const FORGET_RUN = "warpmap-forget";

/** BullMQ keeps about so many events. Each of a finished job holds its result. */
export const EVENTS_KEPT = 2000;

/** "partition left" of run r1: "r1.partition-left". */
export const stageId = (run: string, stage: string) => `${run}.${stage.replace(/[^A-Za-z0-9]+/g, "-")}`;
export const jobId = (stage: string, part: number) => `${stage}.${part}`;
export const runOf = (id: string) => id.slice(0, id.indexOf("."));
export const stageOf = (job: string) => job.slice(0, job.lastIndexOf("."));
export const partOf = (job: string) => Number(job.slice(job.lastIndexOf(".") + 1));
