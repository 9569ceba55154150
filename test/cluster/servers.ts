/** Servers for tests of clusters, in temporary folders: null where they are not installed, and then tests say so. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { accessSync, chownSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Ends its process at once. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Keeps all that was written. @param password that it asks for */
export async function startRedis(password?: string): Promise<TestServer | null> {
  const program = onPath("redis-server");
  if (program === null) return null;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "warpmap-redis-"));
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder];
  args.push(
    "--appendonly",
    "yes",
    "--appendfsync",
    "always",
    "--save",
    "",
    "--maxmemory-policy",
    "noeviction",
  );
  if (password !== undefined) args.push("--requirepass", password);
  const credentials = password === undefined ? "" : `:${password}@`;
  const start = async () => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    await said(child, /Ready to accept connections/);
    return child;
  };
  return server(`redis://${credentials}127.0.0.1:${port}/0`, port, folder, start, "SIGKILL");
}

/** A user and a database "postgres". Runs as the user postgres where the tests run as root. */
export async function startPostgres(): Promise<TestServer | null> {
  const bin = postgresBin();
  if (bin === null) return null;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "warpmap-postgres-"));
  const user = process.getuid?.() === 0 ? userOf("postgres") : null;
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const options = { ...user, cwd: folder, stdio: "ignore" } as const;
  execFileSync(join(bin, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-N"], options);
  const settings = ["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${folder}`];
  const start = async () => {
    const args = ["-D", data, "-p", `${port}`, ...settings];
    const child = spawn(join(bin, "postgres"), args, {
      ...user,
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    await said(child, /database system is ready to accept connections/);
    return child;
  };
  // at SIGQUIT it ends its other processes with it
  return server(`postgres://postgres@127.0.0.1:${port}/postgres`, port, folder, start, "SIGQUIT");
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

async function server(
  url: string,
  port: number,
  folder: string,
  run: () => Promise<ChildProcess>,
  signal: NodeJS.Signals,
): Promise<TestServer> {
  let child = await run();
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  };
  const end = () => child.kill(signal);
  process.once("exit", end);
  return {
    url,
    port,
    kill,
    async start() {
      child = await run();
    },
    async stop() {
      process.off("exit", end);
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits for a line of a process's output. */
function said(child: ChildProcess, line: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    const hear = (chunk: Buffer) => {
      text += chunk;
      if (line.test(text)) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", () => reject(new Error(`The server did not start:\n${text}`)));
  });
}

function onPath(program: string): string | null {
  for (const folder of (process.env.PATH ?? "").split(":")) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  return null;
}

/** Debian's packages keep these programs out of the PATH. */
function postgresBin(): string | null {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const bins = versions.map((version) => join(debian, version, "bin"));
  const found = bins.find((bin) => existsSync(join(bin, "initdb")));
  if (found) return found;
  const initdb = onPath("initdb");
  return initdb && join(initdb, "..");
}

function userOf(name: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}
