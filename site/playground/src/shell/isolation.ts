/**
 * Cross-origin isolation, without which a page has no shared memory and the cpu engine one thread. Where the host does not send the
 * headers, a service worker adds them (public/isolation-worker.js), from the next load of the page on: so the page loads once more.
 */

const TRIED = "warpmap-isolation-tried";
const PATIENCE_MS = 4000;

/** Loads the page again where that gives it threads. @returns true when it is about to */
export async function isolate(): Promise<boolean> {
  if (crossOriginIsolated || !isSecureContext || !("serviceWorker" in navigator)) return false;
  if (session(() => sessionStorage.getItem(TRIED)) !== null) return false;
  try {
    const registration = await navigator.serviceWorker.register(
      new URL("isolation-worker.js", document.baseURI),
    );
    if (!(await isActive(registration))) return false;
    // where nothing can be noted it might load for ever
    session(() => sessionStorage.setItem(TRIED, "1"));
    if (session(() => sessionStorage.getItem(TRIED)) === null) return false;
    location.reload();
    return true;
  } catch {
    return false; // a private window, or a browser's setting: the page works without
  }
}

/** One sentence on threads, for the reader. */
export function isolationText(): string {
  const cores = navigator.hardwareConcurrency || 1;
  if (crossOriginIsolated) return `The cpu engine may use ${cores} threads.`;
  const why = isSecureContext
    ? "this page is not cross-origin isolated, and no service worker could change that"
    : "this page came without https";
  return `The cpu engine has one thread, since ${why}.`;
}

async function isActive(registration: ServiceWorkerRegistration): Promise<boolean> {
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  if (worker === null) return false;
  if (worker.state === "activated") return true;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), PATIENCE_MS);
    worker.addEventListener("statechange", () => {
      if (worker.state !== "activated" && worker.state !== "redundant") return;
      clearTimeout(timer);
      resolve(worker.state === "activated");
    });
  });
}

function session<T>(use: () => T): T | null {
  try {
    return use();
  } catch {
    return null;
  }
}
