/** One piece of work at a time, the others in turn, with words on how far it is, a Stop button, and a place for the one line of an error. */
import { h } from "./dom.js";

export interface Told {
  readonly text: string;
  readonly part?: number;
}

export interface WorkOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (told: Told) => void;
}

export type Work = (options: WorkOptions) => Promise<void>;

export class WorkBar {
  readonly element: HTMLElement;
  readonly #bar = h("progress", { max: 1, "aria-label": "Progress" });
  readonly #text = h("span", { class: "work-text" });
  readonly #stop = h("button", { type: "button", class: "stop" }, "Stop");
  readonly #running: HTMLElement;
  readonly #message = h("p", { class: "message", role: "alert" });
  readonly #busyChanged: (busy: boolean) => void;
  #controller: AbortController | null = null;
  /** Of the latest piece of work. */
  #ended: Promise<boolean> | undefined;

  constructor(busyChanged: (busy: boolean) => void) {
    this.#busyChanged = busyChanged;
    this.#running = h("div", { class: "running", hidden: true }, this.#stop, this.#bar, this.#text);
    this.#stop.onclick = () => this.#controller?.abort(new DOMException("Stopped.", "AbortError"));
    this.element = h("div", { class: "work" }, this.#running, this.#message);
  }

  get busy(): boolean {
    return this.#controller !== null;
  }

  /** Runs work when what runs has ended: a file may be dropped meanwhile. Shows the error that it throws. @returns whether it came to its end */
  async perform(text: string, work: Work): Promise<boolean> {
    while (this.busy) await this.#ended;
    this.#ended = this.#run(text, work);
    return this.#ended;
  }

  async #run(text: string, work: Work): Promise<boolean> {
    const controller = new AbortController();
    this.#controller = controller;
    this.say("");
    this.#tell({ text });
    this.#running.hidden = false;
    this.#busyChanged(true);
    try {
      await work({ signal: controller.signal, onProgress: (told) => this.#tell(told) });
      return true;
    } catch (error) {
      if (controller.signal.aborted) this.say("Stopped.");
      else this.say((error as Error).message, true);
      return false;
    } finally {
      this.#controller = null;
      this.#running.hidden = true;
      this.#busyChanged(false);
    }
  }

  /** One line below the buttons. */
  say(text: string, isError = false): void {
    this.#message.textContent = text;
    this.#message.classList.toggle("error", isError);
  }

  #tell({ text, part }: Told): void {
    this.#text.textContent = text;
    if (part === undefined) this.#bar.removeAttribute("value");
    else this.#bar.value = Math.min(1, part);
  }
}
