/** The view Code: the programs of examples/, to change and run in a worker; Stop ends the worker. */
import "./style.css";
import examples from "virtual:examples";
import { field, h, msText, replace, select } from "../../dom.js";
import { engineSelect } from "../../engines.js";
import type { View } from "../../shell/views.js";
import type { ProgramMessage, ProgramRequest } from "../protocol.js";
import { rewrite } from "../rewrite.js";
import { Editor } from "./editor.js";

/** Arguments of the programs, by the engine that is chosen. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  auto: "",
  webgpu: "--backend webgpu",
  software: "--backend webgpu --software",
  cpu: "--backend cpu",
};

export function mount(panel: HTMLElement, parameters: URLSearchParams): View {
  new CodeView(panel, parameters);
  return {};
}

class CodeView {
  readonly #program: HTMLSelectElement;
  readonly #engine: HTMLSelectElement;
  readonly #args = h("input", { type: "text", spellcheck: false, autocomplete: "off" });
  readonly #run = h("button", { type: "button", class: "primary" }, "Run");
  readonly #stop = h("button", { type: "button", disabled: true }, "Stop");
  readonly #state = h("p", { class: "place", role: "status" });
  readonly #output = h("pre", {
    class: "output-text",
    role: "log",
    tabIndex: 0,
    "aria-label": "Output of the program",
  });
  readonly #editor: Editor;
  #worker: Worker | null = null;

  constructor(panel: HTMLElement, parameters: URLSearchParams) {
    this.#program = select(
      examples.map(({ name }) => name),
      { value: parameters.get("program") ?? "word-count.mjs" },
    );
    this.#engine = engineSelect(parameters.get("engine"));
    this.#engine.removeAttribute("aria-label");
    this.#program.onchange = () => this.#open();
    this.#engine.onchange = () => this.#showArguments();
    this.#run.onclick = () => this.#start();
    this.#stop.onclick = () => this.#end("Stopped.");
    const editor = h("div", { class: "editor" });
    panel.append(
      h("h1", { id: "code-title", tabIndex: -1 }, "Code"),
      h(
        "p",
        { class: "lead" },
        "The repository's examples, to read, change and run. Each checks its answer against plain JavaScript.",
      ),
      h(
        "div",
        { class: "row" },
        field("Program", this.#program),
        field("Engine", this.#engine),
        field("Arguments", this.#args),
      ),
      editor,
      h("div", { class: "actions" }, this.#run, this.#stop, this.#state),
      this.#output,
    );
    this.#editor = new Editor(editor);
    this.#showArguments();
    this.#open();
  }

  #open(): void {
    this.#end("");
    replace(this.#output);
    this.#editor.text = examples.find(({ name }) => name === this.#program.value)?.source ?? "";
  }

  #showArguments(): void {
    this.#args.value = ARGUMENTS[this.#engine.value];
  }

  #start(): void {
    this.#end("");
    replace(this.#output);
    this.#editor.mark([]);
    const root = new URL(".", document.baseURI).href;
    const name = this.#program.value;
    const { source, faults } = rewrite(this.#editor.text, root, name);
    if (faults.length > 0) {
      this.#editor.mark(faults);
      const [{ from, message }] = faults;
      this.#print("error", `line ${this.#editor.lineAt(from)}: ${message}`);
      return;
    }
    const worker = new Worker(new URL("lib/code-worker.js", root), { type: "module" });
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<ProgramMessage>) => this.#told(data);
    worker.onerror = ({ message }) => this.#failed(message || "The worker could not be loaded.", null);
    this.#stop.disabled = false;
    this.#state.textContent = "Running …";
    const args = this.#args.value.split(/\s+/).filter((text) => text !== "");
    worker.postMessage({ source, args, name } satisfies ProgramRequest);
  }

  #told(message: ProgramMessage): void {
    if (message.kind === "output") this.#print(message.level, message.text);
    else if (message.kind === "error") this.#failed(message.text, message.line);
    // the worker stays: what the program left running may still print
    else this.#state.textContent = `Ended after ${msText(message.ms)}.`;
  }

  #failed(text: string, line: number | null): void {
    this.#print("error", line === null ? text : `line ${line}: ${text}`);
    if (line !== null) this.#editor.markLine(line, text);
    this.#end("Ended by an error.");
  }

  #end(text: string): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#stop.disabled = true;
    this.#state.textContent = text;
  }

  #print(level: "log" | "error", text: string): void {
    this.#output.append(h("span", { class: level }, `${text}\n`));
  }
}
