/** Row groups that workers encode: what starting workers needs to know of writing, without the writer. */
import type { TaskKind } from "../../host/pool.js";
import { FileError } from "../errors.js";
import type { EncodedGroup, PackedGroup } from "./parquet-groups.js";

export const WRITE_TASKS: TaskKind<PackedGroup, EncodedGroup> = {
  name: "parquet-write",
  script: () => import("./parquet-write-worker.ts?worker-source"),
  errors: { FILE: FileError },
};
