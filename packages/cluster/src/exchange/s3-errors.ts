/**
 * What S3 refuses, in plain sentences. The SDK's errors carry requests, and with them key ids: messages and causes have
 * none of that but a name and a text, and no value of a credential's variable.
 */
import { ClusterError } from "../errors.js";

/** The code that S3 or the system gave an error. */
export function nameOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: unknown };
  return typeof code === "string" && NETWORK.has(code) ? code : (name ?? "");
}

/** The status of the answer; undefined where none came. */
export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } })?.$metadata?.httpStatusCode;
}

/** Words errors for one exchange. */
export class S3Failures {
  readonly #url: string;
  readonly #endpoint: string | null;

  /** @param endpoint the server when that is not AWS, without credentials */
  constructor(url: string, endpoint: string | null) {
    this.#url = url;
    this.#endpoint = endpoint;
  }

  /** For `catch`: throws the error in words. */
  of(doing: string, file: string): (error: unknown) => never {
    return (error) => {
      const what = file === "" ? this.#url : `"${file}" in ${this.#url}`;
      const { problem, fix } = this.#reason(error);
      throw new ClusterError("EXCHANGE", `Cannot ${doing} ${what}: ${problem}.`, fix, {
        cause: new Error(textOf(error)),
      });
    };
  }

  #reason(error: unknown): { problem: string; fix: string } {
    const name = nameOf(error);
    const server = this.#endpoint ?? "S3 of AWS";
    if (NETWORK.has(name)) {
      return {
        problem: `${server} cannot be reached (${name})`,
        fix: "Check the network and AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.",
      };
    }
    if (name === "NoSuchBucket") {
      return {
        problem: `there is no such bucket on ${server}`,
        fix: "Make the bucket, or correct its name; for a server other than AWS also set AWS_ENDPOINT_URL_S3.",
      };
    }
    if (UNKNOWN_CREDENTIALS.has(name)) {
      return {
        problem: `${server} does not accept the credentials, or there are none (${name})`,
        fix: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN for temporary ones.",
      };
    }
    if (statusOf(error) === 403 || name === "AccessDenied") {
      return {
        problem: "access is denied",
        fix: "Allow s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload on what is in it.",
      };
    }
    if (name === "PermanentRedirect" || /region is missing/i.test(textOf(error))) {
      return {
        problem: "the region is not set or is another",
        fix: "Set AWS_REGION to the bucket's region.",
      };
    }
    if (name === "SlowDown" || statusOf(error) === 503) {
      return {
        problem: `${server} takes no more requests now`,
        fix: "Run fewer workers, or set AWS_MAX_ATTEMPTS to a larger number.",
      };
    }
    return { problem: oneLine(textOf(error)), fix: "Check the bucket and the server." };
  }
}

const NETWORK: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "TimeoutError",
]);

const UNKNOWN_CREDENTIALS: ReadonlySet<string> = new Set([
  "CredentialsProviderError",
  "ExpiredToken",
  "InvalidAccessKeyId",
  "InvalidToken",
  "SignatureDoesNotMatch",
  "TokenRefreshRequired",
]);

/** Shorter values would hide words. */
const SHORTEST_SECRET = 4;

/** Name and text of an error, without credentials. */
function textOf(error: unknown): string {
  const { name, message } = error as Error;
  let text = name && name !== "Error" ? `${name}: ${message}` : `${message}`;
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  for (const secret of [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN]) {
    if (secret && secret.length >= SHORTEST_SECRET) text = text.replaceAll(secret, "(hidden)");
  }
  return text.replace(/\bA[KS]IA[A-Z0-9]{16}\b/g, "(hidden)");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim().replace(/\.$/, "");
}
