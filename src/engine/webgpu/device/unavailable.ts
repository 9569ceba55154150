/** Why there is no GPU to run on, in words, and what to do about it. Loaded where there is none. */
import { BackendUnavailableError } from "../../../errors.js";

/** What happened. */
export type Unavailable =
  | { readonly reason: string; readonly fix: string; readonly cause?: unknown }
  | {
      readonly failed: "WebGPU does not load" | "WebGPU finds no adapter" | "the GPU does not open";
      readonly cause: unknown;
    }
  | "no navigator.gpu"
  | "no GPU"
  | "no software GPU"
  | { readonly onlySoftware: string };

export function unavailable(what: Unavailable): BackendUnavailableError {
  const { reason, fix, cause } = inWords(what);
  return new BackendUnavailableError("webgpu", [{ backend: "webgpu", reason }], fix, { cause });
}

function inWords(what: Unavailable): { reason: string; fix: string; cause?: unknown } {
  if (what === "no navigator.gpu") {
    return {
      reason: "this browser has no WebGPU (navigator.gpu is missing)",
      fix: "Use a current browser, over https or on localhost.",
    };
  }
  if (what === "no GPU" || what === "no software GPU") {
    return {
      reason: `WebGPU finds ${what} on this machine`,
      fix:
        what === "no GPU"
          ? "Install the GPU's Vulkan, Metal or Direct3D 12 driver, or use the cpu backend."
          : "Install SwiftShader or a recent llvmpipe and let VK_ICD_FILENAMES name it before the process starts.",
    };
  }
  if ("onlySoftware" in what) {
    return {
      reason: `the only GPU is a software one (${what.onlySoftware})`,
      fix: "Ask for it with { software: true } (--software), or use the cpu backend.",
    };
  }
  if ("reason" in what) return what;
  return {
    reason: `${what.failed}: ${(what.cause as Error).message}`,
    fix: "Update the browser or the GPU's driver, or use the cpu backend.",
    cause: what.cause,
  };
}
