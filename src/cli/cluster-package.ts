/** The package warpmap-cluster, which is installed beside warpmap, or not: of it only types are imported. */
import type * as cluster from "warpmap-cluster";
import { ValidationError } from "../errors.js";

export type ClusterPackage = Pick<typeof cluster, "openCluster" | "queueStatus" | "startWorker">;

const NAME = "warpmap-cluster";

/** @throws ValidationError when the package is not installed */
export async function clusterPackage(
  load: () => Promise<unknown> = () => import(/* @vite-ignore */ NAME),
): Promise<ClusterPackage> {
  try {
    return (await load()) as ClusterPackage;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${NAME}'`)) throw error;
    throw new ValidationError(
      "Work on several processes or machines is done by the package warpmap-cluster, which is not installed.",
      "Install it: npm install warpmap-cluster.",
      { cause: error },
    );
  }
}
