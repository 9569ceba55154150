/** What the reader made of the programs, by name: kept for this tab, so that another program or a reload does not lose it. */

const keyOf = (name: string) => `warpmap-program:${name}`;

export function editOf(name: string): string | null {
  try {
    return sessionStorage.getItem(keyOf(name));
  } catch {
    return null; // storage may be forbidden
  }
}

/** @param text null when the program is as it was */
export function keepEdit(name: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(keyOf(name));
    else sessionStorage.setItem(keyOf(name), text);
  } catch {
    // the text then holds while it is in the editor
  }
}
