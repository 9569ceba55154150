/** What the reader made of the programs, by name, and the program of the view Try: kept for this tab, so that another program or a reload does not lose it. */

/** The name that the program of the view Try has here. */
export const TRY_PROGRAM = "try.mjs";

const keyOf = (name: string) => `warpmap-program:${name}`;
const TRY_KEY = "warpmap-try-program";

export function editOf(name: string): string | null {
  return stored(keyOf(name));
}

/** @param text null when the program is as it was */
export function keepEdit(name: string, text: string | null): void {
  store(keyOf(name), text);
}

/** What the view Try did last, as a program; null before. */
export function triedProgram(): string | null {
  return stored(TRY_KEY);
}

export function keepProgram(text: string): void {
  store(TRY_KEY, text);
  store(keyOf(TRY_PROGRAM), null);
}

function stored(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null; // storage may be forbidden
  }
}

function store(key: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // the text then holds while it is in the editor
  }
}
