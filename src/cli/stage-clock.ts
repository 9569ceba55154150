/** How long the stages of a command took, in the order in which they ended. */
import { secondsText, visible } from "./text.js";

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
    if (stage) stage.note += `, ${note}`;
  }

  /** One line a stage, and the total. */
  text(total: number): string {
    const lines = [...this.#stages, { name: "total", seconds: total, note: "" }];
    const nameWidth = Math.max(...lines.map(({ name }) => name.length));
    const times = lines.map(({ seconds }) => secondsText(seconds));
    const timeWidth = Math.max(...times.map((time) => time.length));
    return lines
      .map(({ name, note }, i) =>
        `  ${name.padEnd(nameWidth)}  ${times[i].padStart(timeWidth)}  ${visible(note)}`.trimEnd(),
      )
      .map((line) => `${line}\n`)
      .join("");
  }
}
