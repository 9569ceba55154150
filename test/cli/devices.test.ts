import { expect, it } from "vitest";
import { cli } from "./run-cli.js";

it("lists the engines and what auto picks", async () => {
  const { status, stdout } = await cli(["devices"]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^backend +device +available$/m);
  expect(stdout).toMatch(/^webgpu /m);
  expect(stdout).toMatch(/^cpu +CPU, \d+ threads? +yes$/m);
  expect(stdout).toMatch(/^auto picks (cpu|webgpu), .+\.$/m);
});

it("prints JSON", async () => {
  const { stdout, stderr } = await cli(["devices", "--json"]);
  expect(stderr).toBe("");
  const { auto, devices } = JSON.parse(stdout);
  expect(["cpu", "webgpu"]).toContain(auto.backend);
  expect(auto.reason).toMatch(/\.$/);
  const cpu = devices.find(({ backend }: { backend: string }) => backend === "cpu");
  expect(cpu).toMatchObject({ available: true, software: false, threads: expect.any(Number) });
  const gpu = devices.find(({ backend }: { backend: string }) => backend === "webgpu");
  expect(gpu).toMatchObject({ available: expect.any(Boolean), reason: expect.stringMatching(/./) });
});

it("also looks for software GPUs when asked to", async () => {
  const { stdout } = await cli(["devices", "--software", "--json"]);
  const lines = JSON.parse(stdout).devices.map(({ backend }: { backend: string }) => backend);
  expect(lines).toEqual(["cuda", "webgpu", "webgpu", "cpu"]);
});
