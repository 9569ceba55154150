/** The editor: CodeMirror, coloured by the style sheet, with marks at the lines of errors. */
import { javascript } from "@codemirror/lang-javascript";
import { syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { classHighlighter } from "@lezer/highlight";
import { basicSetup, EditorView } from "codemirror";

export class Editor {
  readonly #view: EditorView;

  constructor(parent: HTMLElement, changed: () => void) {
    this.#view = new EditorView({
      parent,
      extensions: [
        basicSetup,
        javascript(),
        lintGutter(),
        syntaxHighlighting(classHighlighter),
        EditorView.contentAttributes.of({ "aria-label": "Program" }),
        EditorView.updateListener.of(({ docChanged }) => {
          if (docChanged) changed();
        }),
      ],
    });
    // it scrolls to both sides, so it is in reach of the keyboard by itself
    this.#view.scrollDOM.tabIndex = 0;
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  set text(text: string) {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
    this.#view.dispatch({ selection: { anchor: 0 }, scrollIntoView: true });
    this.mark([]);
  }

  /** Shows errors at their places, and goes to the first. */
  mark(errors: readonly { readonly from: number; readonly to: number; readonly message: string }[]): void {
    const diagnostics = errors.map((error): Diagnostic => ({ ...error, severity: "error" }));
    this.#view.dispatch(setDiagnostics(this.#view.state, diagnostics));
    const [first] = errors;
    if (first) this.#view.dispatch({ effects: EditorView.scrollIntoView(first.from, { y: "center" }) });
  }

  /** The number of the line with a position. */
  lineAt(position: number): number {
    return this.#view.state.doc.lineAt(position).number;
  }

  /** Marks a whole line. */
  markLine(number: number, message: string): void {
    const { doc } = this.#view.state;
    if (number < 1 || number > doc.lines) return;
    const { from, to } = doc.line(number);
    this.mark([{ from, to, message }]);
  }
}
