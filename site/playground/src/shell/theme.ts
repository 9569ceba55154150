/** Dark or light: what the system says, until the reader chooses. VitePress's class and key, so that the site and the playground agree. */

const KEY = "vitepress-theme-appearance";
const system = matchMedia("(prefers-color-scheme: dark)");

/** Lets a button change the appearance. */
export function bindTheme(button: HTMLButtonElement): void {
  const show = () => {
    const dark = isDark();
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
  };
  const apply = (dark: boolean) => {
    document.documentElement.classList.toggle("dark", dark);
    show();
    document.dispatchEvent(new Event("themechange"));
  };
  button.onclick = () => {
    const dark = !isDark();
    store(dark === system.matches ? "auto" : dark ? "dark" : "light");
    apply(dark);
  };
  system.onchange = () => {
    if (stored() === "auto") apply(system.matches);
  };
  show();
}

export function isDark(): boolean {
  return document.documentElement.classList.contains("dark");
}

function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? "auto";
  } catch {
    return "auto"; // storage may be forbidden
  }
}

function store(choice: string): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // the choice then holds for this page
  }
}
