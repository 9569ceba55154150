// What only exchanges on S3 do, and what they make of servers that fail.
import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { openExchange } from "../../packages/cluster/src/exchange/open-exchange.js";
import { S3Exchange } from "../../packages/cluster/src/exchange/s3.js";
import { loadSdk } from "../../packages/cluster/src/exchange/s3-client.js";
import { bytes, failureOf, listed, MIB, pattern, serverOfS3, text } from "./exchange-helpers.js";
import { refuse, startS3 } from "./s3-server.js";

const s3 = serverOfS3();
let count = 0;

describe("an exchange on S3", () => {
  const url = () => `s3://bucket/only/${count++}`;

  it("may be a whole bucket, and skips what consoles show as folders", async () => {
    const own = await startS3(["whole-bucket"]);
    for (const [name, value] of Object.entries(own.env)) vi.stubEnv(name, value);
    const exchange = await openExchange("s3://whole-bucket/");
    expect(exchange.url).toBe("s3://whole-bucket");
    await exchange.write("a", [bytes("x")]);
    const answer = await fetch(`${own.endpoint}/whole-bucket/shown/`, { method: "PUT" });
    expect([answer.ok, await listed(exchange), await listed(exchange, "shown")]).toEqual([true, ["a"], []]);
    await exchange.remove("");
    expect(await listed(exchange)).toEqual([]);
    await exchange.close();
    await own.close();
  });

  it("sends small files in one request, and large ones in parts of 8 MiB", async () => {
    const exchange = await openExchange(url());
    s3().requests.length = 0;
    await exchange.write("small", [pattern(8 * MIB)]);
    expect(s3().requests.map((each) => each.replace(/\?.*/, ""))).toEqual([
      `PUT ${new URL(`${exchange.url}/small`).pathname.replace(/^/, "/bucket")}`,
    ]);
    s3().requests.length = 0;
    await exchange.write("large", [pattern(20 * MIB)]);
    const parts = s3().requests.filter((each) => /partNumber=\d/.test(each));
    expect([parts.length, s3().requests.length]).toEqual([3, 5]);
  });

  it("tries a conditional write again that met another", async () => {
    const exchange = await openExchange(url());
    let conflicts = 0;
    s3().intercept = (request, response) => {
      if (request.method !== "PUT" || conflicts === 2) return false;
      conflicts++;
      refuse(request, response, 409, "ConditionalRequestConflict");
      return true;
    };
    expect([await exchange.create("lock", bytes("x")), conflicts]).toEqual([true, 2]);
  });

  it("knows its own file when the answer to a conditional write gets lost", async () => {
    const exchange = await openExchange(url());
    let lost = 0;
    s3().intercept = (request, response) => {
      if (request.method === "PUT" && lost++ === 0) {
        // the object is made, and the connection breaks in place of an answer
        response.end = (() => request.socket.destroy()) as never;
        response.write = (() => true) as never;
      }
      return false;
    };
    expect([await exchange.create("lock", bytes("mine")), lost]).toEqual([true, 2]);
    expect(await exchange.create("lock", bytes("another's"))).toBe(false);
  });

  it("looks before it writes where the server has no conditional writes", async () => {
    const exchange = await openExchange(url());
    for (const mode of ["ignored", "refused"] as const) {
      s3().conditionalWrites = mode;
      expect(await exchange.create(mode, bytes("first"))).toBe(true);
      expect(await exchange.create(mode, bytes("second"))).toBe(false);
      expect(text(await exchange.read(mode))).toBe("first");
    }
  });

  it("reads again when the connection breaks, and gives up in words", async () => {
    const exchange = await openExchange(url());
    const all = pattern(3 * MIB);
    await exchange.write("a", [all]);
    let breaks = 2;
    s3().intercept = (request, response) => {
      if (request.method !== "GET" || breaks-- <= 0) return false;
      response.writeHead(200, { "content-length": all.length });
      response.write(all.subarray(0, MIB), () => request.socket.destroy());
      return true;
    };
    expect(Buffer.compare(await exchange.read("a"), all)).toBe(0);
    breaks = Number.POSITIVE_INFINITY;
    const error = await failureOf(exchange.read("a"));
    expect([error.reason, error.problem]).toEqual([
      "EXCHANGE",
      expect.stringMatching(/Cannot read "a" in s3:/),
    ]);
  });

  it("tells which files a server does not remove", async () => {
    const exchange = await openExchange(url());
    await exchange.write("a/b", [bytes("x")]);
    s3().intercept = (request, response) => {
      if (request.method !== "POST") return false;
      const denied = "<Error><Key>b</Key><Code>AccessDenied</Code><Message>no</Message></Error>";
      request.resume().on("end", () => response.end(`<DeleteResult>${denied}</DeleteResult>`));
      return true;
    };
    expect((await failureOf(exchange.remove("a"))).problem).toMatch(
      /Cannot remove "a" in .*: access is denied/,
    );
  });

  it("says at once that there is no such bucket", async () => {
    const error = await failureOf(openExchange("s3://no-such-bucket/x"));
    expect([error.reason, error.problem, error.fix]).toEqual([
      "EXCHANGE",
      `Cannot list s3://no-such-bucket/x: there is no such bucket on ${s3().endpoint}.`,
      expect.stringMatching(/^Make the bucket/),
    ]);
  });

  it("says at once that a server cannot be reached", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9");
    const error = await failureOf(openExchange(url()));
    expect([error.reason, error.problem, error.fix]).toEqual([
      "EXCHANGE",
      expect.stringMatching(/: http:\/\/127\.0\.0\.1:9 cannot be reached \(ECONNREFUSED\)\.$/),
      expect.stringContaining("AWS_ENDPOINT_URL_S3"),
    ]);
  });

  it("goes by AWS_ENDPOINT_URL, and is in us-east-1 unless told otherwise", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL_S3", undefined);
    vi.stubEnv("AWS_REGION", undefined);
    vi.stubEnv("AWS_ENDPOINT_URL", s3().endpoint);
    const exchange = await openExchange(url());
    expect(await exchange.write("a", [bytes("x")])).toBe(1);
  });

  it.each([
    [403, "AccessDenied", /access is denied/, /s3:ListBucket/],
    [403, "InvalidAccessKeyId", /does not accept the credentials/, /AWS_ACCESS_KEY_ID/],
    [403, "SignatureDoesNotMatch", /does not accept the credentials/, /AWS_SECRET_ACCESS_KEY/],
    [400, "ExpiredToken", /does not accept the credentials/, /AWS_SESSION_TOKEN/],
    [503, "SlowDown", /takes no more requests now/, /fewer workers/],
    [301, "PermanentRedirect", /region/, /AWS_REGION/],
    [418, "Odd", /Odd: /, /Check the bucket/],
  ])("has words for %i %s, and no credentials in them", async (status, code, problem, fix) => {
    const secrets = ["AKIAABCDEFGHIJKLMNOP", "secret+of/forty", "session-token-value"];
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].map((name, i) =>
      vi.stubEnv(name, secrets[i]),
    );
    vi.stubEnv("AWS_MAX_ATTEMPTS", "1");
    s3().intercept = (request, response) => {
      const told = `${secrets.join(" ")}</Message><AWSAccessKeyId>${secrets[0]}</AWSAccessKeyId><Message>`;
      refuse(request, response, status, code, told);
      return true;
    };
    const error = await failureOf(openExchange(url()));
    expect(error.problem).toMatch(problem);
    expect(error.fix).toMatch(fix);
    const shown = inspect(error, { depth: 20, showHidden: true });
    for (const secret of secrets) expect(shown).not.toContain(secret);
  });

  it("says what to install", async () => {
    const missing = () => loadSdk(() => import("no-such-package-of-aws" as string));
    const error = await failureOf(S3Exchange.open("s3://bucket/x", missing));
    expect([error.reason, error.fix]).toEqual([
      "EXCHANGE",
      expect.stringContaining("npm install @aws-sdk/client-s3"),
    ]);
  });
});
