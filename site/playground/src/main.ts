/** The playground's shell: appearance, threads, and the three views. */
import "./colours.css";
import "./style.css";
import "./shell/style.css";
import { isolate, isolationText } from "./shell/isolation.js";
import { bindTheme } from "./shell/theme.js";
import { bindViews } from "./shell/views.js";

bindTheme(document.getElementById("theme") as HTMLButtonElement);
if (!(await isolate())) {
  bindViews();
  (document.getElementById("isolation") as HTMLElement).textContent = isolationText();
}
