// The server of docs/recipes/server.md that works in a worker thread: its three blocks as one program, and clients that hang up or ask wrongly.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { runProgram } from "../helpers/run-program.js";

const text = readFileSync(resolve(import.meta.dirname, "../../docs/recipes/server.md"), "utf8");
const blocks = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)];
const [worker, server, client] = ["js server worker", "js server", "js server client"].map(
  (name) => blocks.find(([, words]) => words === name)?.[2] ?? "",
);

async function prints(program: string): Promise<string> {
  const { stdout, stderr, status } = await runProgram(program, [], 60_000, { "totals.worker.mjs": worker });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout;
}

/** What the worker failed with, as the server is told it. */
const LOG = 'server.addHook("onError", async (_, reply, error) => console.log(error.message));';
const ASK = `
  const address = await server.listen({ port: 0 });
  const ask = (columns, signal) => fetch(address + "/totals", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(columns), signal,
  });`;

describe("a server with a worker thread", () => {
  it("prints what the page says", async () => {
    expect(await prints(server + client)).toBe(blocks.at(-1)?.[2]);
  });

  it("ends a call whose client hangs up, and goes on", async () => {
    const program = `${server}${LOG}${ASK}
      const rows = { length: 300_000 };
      const many = { city: Array.from(rows, (_, i) => "city " + i), seconds: Array.from(rows, (_, i) => i) };
      const leaving = new AbortController();
      const left = ask(many, leaving.signal).catch((error) => error.name);
      while (asked.size === 0) await new Promise(setImmediate);
      leaving.abort();
      console.log("client:", await left);
      while (asked.size > 0) await new Promise(setImmediate);
      console.log((await (await ask({ city: ["Rome"], seconds: [1] })).json()).length);
      await server.close();`;
    expect(await prints(program)).toBe("client: AbortError\nAbortError: This operation was aborted\n1\n");
  });

  it("answers errors of a call", async () => {
    const program = `${server}${ASK}
      const wrong = await ask({ town: ["Rome"], seconds: [1] });
      console.log(wrong.status, (await wrong.json()).message);
      await server.close();`;
    expect(await prints(program)).toMatch(/^500 .*city/);
  });
});
