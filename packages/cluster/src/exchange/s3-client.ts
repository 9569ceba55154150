/**
 * The SDK of AWS and a client by the environment of the process: AWS_ACCESS_KEY_ID and the like, AWS_REGION,
 * AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. What is not set here the SDK takes from profiles and the machine's role.
 */
import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { ClusterError } from "../errors.js";

export type Sdk = typeof import("@aws-sdk/client-s3");

/** Milliseconds until a server counts as unreachable. */
const CONNECTION_TIMEOUT = 10_000;
/** Milliseconds in which nothing comes or goes, until a connection counts as broken. */
const SOCKET_TIMEOUT = 60_000;
/** Attempts at a request; AWS_MAX_ATTEMPTS has another number. Many workers at once are told to slow down. */
const MOST_ATTEMPTS = 5;

/** The SDK, an optional peer dependency. @throws ClusterError EXCHANGE when it is not installed */
export async function loadSdk(load: () => Promise<Sdk> = () => import("@aws-sdk/client-s3")): Promise<Sdk> {
  try {
    return await load();
  } catch (cause) {
    throw new ClusterError(
      "EXCHANGE",
      "Exchanges on S3 need the package @aws-sdk/client-s3, which cannot be loaded.",
      "Run `npm install @aws-sdk/client-s3` where warpmap-cluster is installed.",
      { cause },
    );
  }
}

/** A client, and the server that it talks to when that is not AWS. @throws ClusterError EXCHANGE_URL */
export function connect(sdk: Sdk): { client: S3Client; endpoint: string | null } {
  const { env } = process;
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || null;
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || (endpoint === null ? undefined : "us-east-1");
  const config: S3ClientConfig = {
    ...(region === undefined ? {} : { region }),
    ...(env.AWS_MAX_ATTEMPTS ? {} : { maxAttempts: MOST_ATTEMPTS }),
    ...(endpoint === null ? { followRegionRedirects: true } : elsewhere(endpoint)),
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT, socketTimeout: SOCKET_TIMEOUT },
  };
  return { client: new sdk.S3Client(config), endpoint };
}

/** Of servers that are not AWS: many know buckets by paths alone, and no checksums but those that S3 asks for. */
function elsewhere(endpoint: string): S3ClientConfig {
  let url: URL | null = null;
  try {
    url = new URL(endpoint);
  } catch {
    // told below
  }
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw new ClusterError(
      "EXCHANGE_URL",
      "AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is not the URL of a server, or holds a user name or a password.",
      "Set it to a URL like http://minio:9000, and hand over credentials as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    );
  }
  const { env } = process;
  return {
    endpoint,
    forcePathStyle: true,
    ...(env.AWS_REQUEST_CHECKSUM_CALCULATION ? {} : { requestChecksumCalculation: "WHEN_REQUIRED" }),
    ...(env.AWS_RESPONSE_CHECKSUM_VALIDATION ? {} : { responseChecksumValidation: "WHEN_REQUIRED" }),
  };
}
