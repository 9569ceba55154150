/** URLs of queues: what of them may be shown, and what clients take. */
import { isIP } from "node:net";
import { ClusterError } from "../errors.js";

/** A server of queues. Only `connection` and `secrets` hold credentials. */
export interface Address {
  readonly kind: "redis" | "postgres";
  /** The URL without credentials and parameters: for messages. */
  readonly name: string;
  /** Options of ioredis, or of pg. */
  readonly connection: Readonly<Record<string, unknown>>;
  /** What no message may hold. */
  readonly secrets: readonly string[];
}

const PORTS = { redis: 6379, postgres: 5432 };

/** @throws ClusterError QUEUE_URL for other URLs than redis:, rediss:, postgres: and postgresql: */
export function addressOf(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const protocol = url?.protocol.slice(0, -1) ?? "";
  const isRedis = protocol === "redis" || protocol === "rediss";
  if (!url?.hostname || !(isRedis || protocol === "postgres" || protocol === "postgresql"))
    throw new ClusterError(
      "QUEUE_URL",
      `A queue's URL begins with redis://, rediss:// or postgres:// and names a host; this one ${url ? `begins with ${protocol}:` : "is not a URL"}.`,
      "Pass one such as redis://host:6379/0, rediss://user:password@host:6380 or postgres://user@host:5432/database.",
    );
  const kind = isRedis ? "redis" : "postgres";
  const port = Number(url.port || PORTS[kind]);
  const path = url.pathname.length > 1 ? url.pathname : "";
  return {
    kind,
    name: `${protocol}://${url.hostname}:${port}${path}`,
    connection: isRedis ? redisOptions(url, port) : postgresOptions(url),
    secrets: [url.password, decode(url.password), url.username, decode(url.username)].filter(Boolean),
  };
}

/** A message of a client or server without the credentials of an address. */
export function withoutSecrets(text: string, { secrets }: Address): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, "***"), text);
}

function redisOptions(url: URL, port: number): Record<string, unknown> {
  // an IPv6 address stands in brackets
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return {
    host,
    port,
    db: Number(url.pathname.slice(1) || 0),
    ...(url.username && { username: decode(url.username) }),
    ...(url.password && { password: decode(url.password) }),
    ...(url.protocol === "rediss:" && { tls: isIP(host) ? {} : { servername: host } }),
    // commands wait for a server that restarts
    maxRetriesPerRequest: null,
  };
}

/** `options` of a URL would replace the search path that BullMQ sets. */
function postgresOptions(url: URL): Record<string, unknown> {
  const plain = new URL(url);
  const options = plain.searchParams.get("options");
  plain.searchParams.delete("options");
  return { connectionString: plain.href, ...(options && { options }), connectionTimeoutMillis: 8000 };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
