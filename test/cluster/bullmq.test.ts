/** Queues by BullMQ on Redis, and what needs no server: URLs, and servers that are not there. */
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { addressOf } from "../../packages/cluster/src/bullmq/address.js";
import { openBullQueue } from "../../packages/cluster/src/bullmq/open-queue.js";
import { errorOf, testQueue } from "./bullmq-suite.js";
import { freePort, startRedis } from "./servers.js";

/** Goes on while other tests run: it takes nine seconds. */
const silence = askSilentServers();

testQueue("redis", "redis-server", await startRedis("se-cret"));

describe("URLs of queues", () => {
  it("say where a server is, and how to connect", () => {
    const plain = addressOf("redis://example.org");
    expect(plain).toMatchObject({ kind: "redis", name: "redis://example.org:6379" });
    expect(plain.connection).toMatchObject({ host: "example.org", port: 6379, db: 0 });
    expect(plain.connection).not.toHaveProperty("tls");
    const tls = addressOf("rediss://mallory:se%2Dcret@example.org:6380/3");
    expect(tls.name).toBe("rediss://example.org:6380/3");
    expect(tls.connection).toMatchObject({
      ...{ host: "example.org", port: 6380, db: 3, username: "mallory", password: "se-cret" },
      tls: { servername: "example.org" },
    });
    const database = addressOf("postgresql://mallory:se-cret@[::1]/jobs?sslmode=require&options=-c%20a%3Db");
    expect(database).toMatchObject({ kind: "postgres", name: "postgresql://[::1]:5432/jobs" });
    expect(database.connection).toMatchObject({
      connectionString: "postgresql://mallory:se-cret@[::1]/jobs?sslmode=require",
      options: "-c a=b",
    });
  });

  it.each(["amqp://mallory:se-cret@host", "se-cret", "redis:///0", ""])("refuses %j", async (url) => {
    expect(await errorOf(openBullQueue(url))).toMatchObject({ reason: "QUEUE_URL" });
  });

  it.each(["redis", "rediss", "postgres"])("a %s server that is not there is named", async (protocol) => {
    const port = await freePort();
    const error = await errorOf(openBullQueue(`${protocol}://mallory:se-cret@127.0.0.1:${port}/0`));
    expect(error).toMatchObject({ reason: "QUEUE_UNREACHABLE" });
    expect(error.problem).toContain(`127.0.0.1:${port}`);
    expect(error.problem).toContain("ECONNREFUSED");
  });

  it("a server that says nothing is given up", async () => {
    const { errors, ms } = await silence;
    for (const error of errors) expect(error).toMatchObject({ reason: "QUEUE_UNREACHABLE" });
    expect(ms).toBeLessThan(12_000);
  });
});

async function askSilentServers() {
  const silent = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => silent.once("listening", listening));
  const { port } = silent.address() as { port: number };
  const urls = [`redis://:se-cret@127.0.0.1:${port}`, `postgres://mallory:se-cret@127.0.0.1:${port}/d`];
  const start = performance.now();
  const errors = await Promise.all(urls.map((url) => errorOf(openBullQueue(url))));
  silent.close();
  return { errors, ms: performance.now() - start };
}
