// npm run site:serve: site/dist as a plain host of static files would serve it.
//
//   npm run site:serve [-- --port 8080] [--base /some/path/]
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { out } from "./paths.mjs";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".csv": "text/csv",
};

/** @param base path below which the site lies, with "/" at both ends @returns the server, once it listens */
export function serve({ folder = out, base = "/", port = 0 } = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = pathname.startsWith(base)
      ? fileOf(folder, decodeURIComponent(pathname.slice(base.length)))
      : undefined;
    const missing = join(folder, "404.html");
    const file = path ?? (existsSync(missing) ? missing : undefined);
    response.statusCode = path === undefined ? 404 : 200;
    if (file === undefined) return response.end("not found");
    response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
    createReadStream(file).pipe(response);
  });
  return new Promise((done) => server.listen(port, "127.0.0.1", () => done(server)));
}

function fileOf(folder, path) {
  const file = join(folder, normalize(`/${path}`));
  if (!existsSync(file)) return undefined;
  if (!statSync(file).isDirectory()) return file;
  const index = join(file, "index.html");
  return existsSync(index) ? index : undefined;
}

async function main() {
  const { values } = parseArgs({
    options: { port: { type: "string", default: "4173" }, base: { type: "string", default: "/" } },
  });
  if (!existsSync(join(out, "index.html"))) {
    console.error("no site/dist: run `npm run site` first");
    process.exit(1);
  }
  const server = await serve({ base: values.base, port: Number(values.port) });
  console.log(`http://localhost:${server.address().port}${values.base}`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
