/** The views and their routes: `#/try`, `#/bench`, `#/code`. A view's code is loaded when it is first shown; then it stays. */

import { route } from "./route.js";

/** What a view's module exports. */
export interface ViewModule {
  /** Fills the panel. @param parameters what stands behind `?` in the hash */
  mount(panel: HTMLElement, parameters: URLSearchParams): View;
}

export interface View {
  /** The view is shown again, maybe with other parameters. */
  show?(parameters: URLSearchParams): void;
}

const LOADERS: Readonly<Record<string, () => Promise<ViewModule>>> = {
  try: () => import("../try/view/index.js"),
  bench: () => import("../bench/view/index.js"),
  code: () => import("../code/view/index.js"),
};
const TITLES: Readonly<Record<string, string>> = { try: "Try", bench: "Bench your GPU", code: "Code" };

const mounted = new Map<string, View>();

/** Shows the view that the hash names, now and whenever it changes. */
export function bindViews(): void {
  addEventListener("hashchange", () => void showCurrent(true));
  void showCurrent(false);
}

async function showCurrent(moveFocus: boolean): Promise<void> {
  const { name, parameters } = route();
  const panels = document.querySelectorAll<HTMLElement>("[data-panel]");
  for (const panel of panels) panel.hidden = panel.dataset.panel !== name;
  for (const link of document.querySelectorAll<HTMLElement>("[data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${TITLES[name]} · warpmap playground`;
  const panel = [...panels].find((panel) => panel.dataset.panel === name) as HTMLElement;
  const view = mounted.get(name);
  if (view) view.show?.(parameters);
  else await mount(name, panel, parameters);
  if (moveFocus) panel.querySelector<HTMLElement>("h1")?.focus();
}

async function mount(name: string, panel: HTMLElement, parameters: URLSearchParams): Promise<void> {
  mounted.set(name, {}); // a second change of the hash must not mount it twice
  try {
    const module = await LOADERS[name]();
    mounted.set(name, module.mount(panel, parameters));
  } catch (error) {
    mounted.delete(name);
    panel.textContent = `This view could not be loaded: ${(error as Error).message}. Load the page again.`;
  }
}
