// URLs of exchanges: those that are refused, and what workers with --data may use.
import { mkdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { confined, openExchange } from "../../packages/cluster/src/exchange/open-exchange.js";
import { failureOf, temporaryFolder } from "./exchange-helpers.js";

const at = temporaryFolder();

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("URLs that are no exchange", () => {
  it.each([
    ["", /no path/],
    ["a\0b", /no path/],
    ["redis://user:hunter2@host/0", /its scheme is "redis"/],
    ["https://bucket.s3.amazonaws.com/x?X-Amz-Signature=hunter2", /its scheme is "https"/],
    ["file://user:hunter2@host/dir", /user name or a password/],
    ["file:///a?hunter2", /"\?" or a "#"/],
    ["file:///a%2Fb", /names no path/],
    ["file:///a%00b", /names no path/],
    ["file://host/share", /begins with file:\/\/\//],
    ["file:a", /begins with file:\/\/\//],
    ["s3://key:hunter2@bucket/x", /user name or a password/],
    ["s3://bucket/x?X-Amz-Signature=hunter2", /"\?" or a "#"/],
    ["s3://", /bucket/],
    ["s3:bucket", /bucket/],
    ["s3:///x", /bucket/],
    ["s3://-bad-/x", /bucket/],
  ])("%j", async (url, problem) => {
    const error = await failureOf(openExchange(url));
    expect([error.reason, error.problem]).toEqual(["EXCHANGE_URL", expect.stringMatching(problem)]);
    expect(error.fix).toContain("s3://bucket/prefix");
    expect(inspect(error)).not.toContain("hunter2");
  });

  it.each(["s3://bucket/a/../b", "s3://bucket//a", "s3://bucket/a//"])("%j", async (url) => {
    expect((await failureOf(openExchange(url))).reason).toBe("EXCHANGE_NAME");
  });

  it.each(["http://key:hunter2@127.0.0.1:1", "hunter2", "ftp://hunter2"])(
    "AWS_ENDPOINT_URL_S3=%s",
    async (endpoint) => {
      vi.stubEnv("AWS_ENDPOINT_URL_S3", endpoint);
      const error = await failureOf(openExchange("s3://bucket/x"));
      expect([error.reason, error.message.includes("hunter2")]).toEqual(["EXCHANGE_URL", false]);
    },
  );
});

describe("confined", () => {
  beforeAll(() => {
    for (const name of ["data/in", "data-2", "elsewhere"]) mkdirSync(at(name), { recursive: true });
    symlinkSync(at("elsewhere"), at("data/out"));
    symlinkSync(join(tmpdir(), "warpmap-no-such-folder"), at("data/dangling"));
    symlinkSync(at("data/in"), at("data/inner"));
    symlinkSync(at("data"), at("alias"));
    symlinkSync("loop", at("data/loop"));
  });

  it.each([
    "data",
    "data/in",
    "data/not/yet/there",
    "data/inner/x",
    "alias/in",
    "data/in/../new",
    "data/..x",
  ])("lets %s pass", (name) => {
    for (const url of [at(name), pathToFileURL(at(name)).href]) {
      expect(() => confined(url, [at("nowhere"), at("data")])).not.toThrow();
      expect(() => confined(url, [at("alias")])).not.toThrow();
    }
  });

  it.each([
    "",
    "data-2",
    "elsewhere",
    "data/../elsewhere",
    "data/out",
    "data/out/x",
    "data/dangling",
    "data/dangling/x",
    "data/loop",
    "data/out/../in/../../elsewhere",
  ])("refuses %j", async (name) => {
    for (const url of [at(name), pathToFileURL(at(name)).href]) {
      const error = await failureOf(() => confined(url, [at("data")]));
      expect([error.reason, error.problem.includes(at("data"))]).toEqual(["OUTSIDE_DATA", true]);
    }
  });

  it("goes where the system goes: above the target of a link", async () => {
    mkdirSync(at("elsewhere/in"), { recursive: true });
    symlinkSync(at("elsewhere/in"), at("data/far"));
    const path = `${at("data")}/far/../in`; // data/in by its text, elsewhere/in by the link
    expect((await failureOf(() => confined(path, [at("data")]))).reason).toBe("OUTSIDE_DATA");
    expect(() => confined(`${at("data")}/inner/../in`, [at("data")])).not.toThrow();
  });

  it("refuses all folders where there are none, and lets S3 pass", async () => {
    expect((await failureOf(() => confined(at("data"), []))).reason).toBe("OUTSIDE_DATA");
    expect(() => confined("s3://bucket/x", [])).not.toThrow();
    expect((await failureOf(() => confined("redis://x", [at("data")]))).reason).toBe("EXCHANGE_URL");
    expect(() => confined("/anything", ["/"])).not.toThrow();
  });
});
