/**
 * Reports in the address: compressed, as base64url behind `#/bench?r=`. What a link brings is anybody's: its shape is checked, its size
 * bounded, and its words are shown as text alone.
 */
import { BENCHMARKS, type PageReport } from "./protocol.js";

/** Characters of a link, and bytes of what it holds: a few hundred rows. */
const LONGEST_LINK = 60_000;
const MOST_BYTES = 1 << 20;
const DIGITS = 4;

export async function linkOf(reports: readonly PageReport[]): Promise<string> {
  const kept = reports.map(({ id, report }) => {
    const { bench, state, machine, device, driver, node, commit, date, parameters, rows } = report;
    return { id, report: { bench, state, machine, device, driver, node, commit, date, parameters, rows } };
  });
  const json = JSON.stringify(kept, (_key, value) =>
    typeof value === "number"
      ? Number(value.toPrecision(DIGITS + (Number.isInteger(value) ? 12 : 0)))
      : value,
  );
  const packed = await bytesOf(new Blob([json]).stream().pipeThrough(new CompressionStream("deflate-raw")));
  return `#/bench?r=${base64url(packed)}`;
}

/** @throws Error with a sentence for what is no link of this page */
export async function reportsOf(packed: string): Promise<PageReport[]> {
  if (packed.length > LONGEST_LINK) throw new Error("The link is longer than any that this page makes.");
  let reports: unknown;
  try {
    const stream = new Blob([fromBase64url(packed)])
      .stream()
      .pipeThrough(new DecompressionStream("deflate-raw"));
    reports = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await bytesOf(stream)));
  } catch {
    throw new Error("The numbers in the link cannot be read. Ask for the link once more.");
  }
  if (!Array.isArray(reports) || !reports.every(isReport)) {
    throw new Error("The link holds no reports of this page.");
  }
  return reports;
}

function isReport(value: unknown): value is PageReport {
  const { id, report } = (value ?? {}) as { id?: unknown; report?: Record<string, unknown> };
  if (!BENCHMARKS.some((benchmark) => benchmark.id === id) || typeof report !== "object" || !report)
    return false;
  const texts = ["bench", "state", "machine", "device", "driver", "node", "date"];
  return (
    texts.every((name) => typeof report[name] === "string") &&
    isRow(report.parameters) &&
    Array.isArray(report.rows) &&
    report.rows.every(isRow)
  );
}

function isRow(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).every((cell) => cell === null || ["number", "string"].includes(typeof cell));
}

/** @throws RangeError when there are more than MOST_BYTES */
async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const blocks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST_BYTES) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    blocks.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const block of blocks) {
    bytes.set(block, at);
    at += block.length;
  }
  return bytes;
}

function base64url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}
