/** The view Code: the programs of README.md, docs/ and examples/ and what Try did, to change and run in a worker; Stop ends the worker. */
import "./style.css";
import groups from "virtual:examples";
import { field, h, msText, replace } from "../../dom.js";
import { engineSelect } from "../../engines.js";
import { noteParameters } from "../../shell/route.js";
import type { View } from "../../shell/views.js";
import type { ProgramMessage, ProgramRequest } from "../protocol.js";
import { type Fault, rewrite } from "../rewrite.js";
import { Editor } from "./editor.js";
import { editOf, keepEdit, TRY_PROGRAM, triedProgram } from "./edits.js";

const examples = groups.flatMap(({ programs }) => programs);

/** Arguments of the programs, by the engine that is chosen. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  auto: "",
  webgpu: "--backend webgpu",
  software: "--backend webgpu --software",
  cpu: "--backend cpu",
};

/** A program that asks for them is told the engine and the arguments. */
const TAKES_ARGUMENTS = /\bparseArgs\b|\bprocess\.argv\b/;

export function mount(panel: HTMLElement, parameters: URLSearchParams): View {
  const view = new CodeView(panel, parameters);
  return { show: (parameters) => view.show(parameters) };
}

class CodeView {
  readonly #program: HTMLSelectElement;
  readonly #engine: HTMLSelectElement;
  readonly #args = h("input", { type: "text", spellcheck: false, autocomplete: "off" });
  readonly #run = h("button", { type: "button", class: "primary" }, "Run");
  readonly #stop = h("button", { type: "button", disabled: true }, "Stop");
  readonly #reset = h("button", { type: "button", hidden: true }, "Undo all changes");
  readonly #state = h("p", { class: "place", role: "status" });
  readonly #output = h("pre", {
    class: "output-text",
    role: "log",
    tabIndex: 0,
    "aria-label": "Output of the program",
  });
  readonly #editor: Editor;
  #worker: Worker | null = null;
  /** Of the program that runs: where it is not JavaScript. */
  #suspect: Fault | null = null;

  constructor(panel: HTMLElement, parameters: URLSearchParams) {
    this.#program = programSelect(parameters.get("program"));
    this.#engine = engineSelect(parameters.get("engine"));
    this.#engine.removeAttribute("aria-label");
    this.#program.onchange = () => this.#open();
    this.#engine.onchange = () => {
      this.#showArguments();
      this.#note();
    };
    this.#reset.onclick = () => {
      this.#editor.text = this.#source;
    };
    this.#run.onclick = () => this.#start();
    this.#stop.onclick = () => this.#end("Stopped.");
    const editor = h("div", { class: "editor" });
    panel.append(
      h("h1", { id: "code-title", tabIndex: -1 }, "Code"),
      h(
        "p",
        { class: "lead" },
        "Read, change and run the programs of the documentation. They are JavaScript, and your changes stay in this tab until you close it.",
      ),
      h(
        "p",
        { class: "quiet" },
        "The examples check their results against plain JavaScript. Their data is small and every run loads code and starts threads, so a Map is usually faster here. warpmap is made for many thousands of keys a call, and best with millions.",
      ),
      h(
        "div",
        { class: "row" },
        field("Program", this.#program),
        field("Engine", this.#engine),
        field("Arguments", this.#args),
      ),
      editor,
      h("div", { class: "actions" }, this.#run, this.#stop, this.#reset, this.#state),
      this.#output,
    );
    this.#editor = new Editor(editor, () => this.#changed());
    this.#showArguments();
    this.#open();
  }

  /** Opens the program that an address names; an address that names none is given what is open. */
  show(parameters: URLSearchParams): void {
    const name = parameters.get("program");
    const isTried = name === TRY_PROGRAM && triedProgram() !== null;
    const isKnown = isTried || examples.some((example) => example.name === name);
    // what Try did may be another program by now
    if (name === null || !isKnown || (name === this.#program.value && !isTried)) {
      this.#note();
      return;
    }
    if (isTried) this.#program.replaceChildren(...programSelect(name).children);
    this.#program.value = name;
    this.#open();
  }

  /** The program as it was before it was changed. */
  get #source(): string {
    const { value } = this.#program;
    if (value === TRY_PROGRAM) return triedProgram() ?? "";
    return examples.find(({ name }) => name === value)?.source ?? "";
  }

  #open(): void {
    this.#end("");
    replace(this.#output);
    this.#editor.text = editOf(this.#program.value) ?? this.#source;
    this.#note();
  }

  /** The program is another one: it was opened, or the reader has typed. */
  #changed(): void {
    const { text } = this.#editor;
    const isEdited = text !== this.#source;
    keepEdit(this.#program.value, isEdited ? text : null);
    this.#reset.hidden = !isEdited;
    this.#engine.disabled = this.#args.disabled = !TAKES_ARGUMENTS.test(text);
  }

  #note(): void {
    const parameters = new URLSearchParams({ program: this.#program.value });
    if (this.#engine.value !== "auto") parameters.set("engine", this.#engine.value);
    noteParameters("code", parameters);
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
    const { source, faults, suspect } = rewrite(this.#editor.text, root, name);
    this.#suspect = suspect;
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

  #failed(told: string, toldLine: number | null): void {
    // the browser does not say where it could not read a program; the editor's parser knows
    const suspect = toldLine === null && told.startsWith("SyntaxError") ? this.#suspect : null;
    const text = suspect ? `${told}. ${suspect.message}`.trimEnd() : told;
    const line = suspect ? this.#editor.lineAt(suspect.from) : toldLine;
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

/** All programs in their groups; first of all what Try did, if it did something. @param asked name of the one to begin with, if there is one */
function programSelect(asked: string | null): HTMLSelectElement {
  const tried = triedProgram() === null ? [] : [h("option", { value: TRY_PROGRAM }, "The program from Try")];
  const listed = groups.map(({ title, programs }) =>
    h(
      "optgroup",
      { label: title },
      ...programs.map(({ name, title }) => h("option", { value: name }, title)),
    ),
  );
  const list = h("select", {}, ...tried, ...listed);
  list.value = asked ?? examples[0].name;
  if (list.selectedIndex < 0) list.value = examples[0].name;
  return list;
}
