/** How long the stages of a command took, in the order in which they ended. */

import { visible } from "../io/visible.js";
import { secondsText } from "./text.js";

interface Stage {
  readonly name: string;
  readonly seconds: number;
  note: string;
}

export class StageClock {
  readonly #stages: Stage[] = [];

  /** A stage that somebody else timed. */
  add(name: string, seconds: number, note = ""): void {
    this.#stages.push({ name, seconds, note });
  }

  /** Runs a stage and times it. */
  async time<T>(name: string, note: string, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await work();
    this.add(name, (performance.now() - start) / 1000, note);
    return result;
  }

  /** Adds to what is said about a stage. */
  note(name: string, note: string): void {
    const stage = this.#stages.find((other) => other.name === name);
    if (stage) stage.note = stage.note === "" ? note : `${stage.note}, ${note}`;
  }

  /**
   * One line a stage, and the total; as a `picture` each with a bar from where the stage began to where it ended, the
   * width being the total.
   */
  text(total: number, picture = false): string {
    const lines = [...this.#stages, { name: "total", seconds: total, note: "" }];
    const nameWidth = Math.max(...lines.map(({ name }) => name.length));
    const times = lines.map(({ seconds }) => secondsText(seconds));
    const timeWidth = Math.max(...times.map((time) => time.length));
    let begin = 0;
    const bars = lines.map(({ seconds }, i) => {
      const from = i === this.#stages.length ? 0 : begin;
      begin = from + seconds;
      return picture ? `  ${bar(from / total, begin / total)}` : "";
    });
    return lines
      .map(({ name, note }, i) =>
        `  ${name.padEnd(nameWidth)}  ${times[i].padStart(timeWidth)}${bars[i]}  ${visible(note)}`.trimEnd(),
      )
      .map((line) => `${line}\n`)
      .join("");
  }
}

/** Characters of a picture's line. */
const WIDTH = 32;
/** The left 1/8 to 7/8 of a character. */
const PARTS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar over a part of the line, in eighths of a character at its end; a stage of any length shows. */
function bar(from: number, to: number): string {
  const clamp = (part: number) => Math.min(WIDTH, Math.max(0, part * WIDTH)) || 0;
  const start = Math.min(WIDTH - 1, Math.floor(clamp(from)));
  const eighths = Math.max(1, Math.round(8 * (clamp(to) - start)));
  const drawn = "█".repeat(eighths >>> 3) + PARTS[eighths & 7];
  return (" ".repeat(start) + drawn).padEnd(WIDTH);
}
