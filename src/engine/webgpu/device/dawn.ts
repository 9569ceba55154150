/** WebGPU in Node: the optional package `webgpu`, which is Dawn. Pages do not load this. */

/** Why there is none: the parts of a BackendUnavailableError. */
export interface NoDawn {
  reason: string;
  fix: string;
  cause?: unknown;
}

type For = "hardware" | "software";

// Dawn crashes when its instance is collected while something made from it is in use
const instances: Partial<Record<For, Promise<GPU | NoDawn>>> = {};

/** The process's one instance for GPUs of hardware or of software, or why there is none: that is tried again. */
export async function dawn(software: boolean): Promise<GPU | NoDawn> {
  const kind = software ? "software" : "hardware";
  instances[kind] ??= load(kind);
  const found = await instances[kind];
  if ("reason" in found) delete instances[kind];
  return found;
}

/** Features of Dawn that are turned off. */
const disabled: Record<For, readonly string[]> = {
  // timestamps as they are: the times of short phases are fractions of what browsers round to
  hardware: ["timestamp_quantization"],
  // SwiftShader compiles the extension to a store for each word of workgroup memory, which takes it far longer than all
  // else of a kernel; Dawn writes a loop instead
  software: ["timestamp_quantization", "use_vulkan_zero_initialize_workgroup_memory_extension"],
};

async function load(kind: For): Promise<GPU | NoDawn> {
  const noVulkan = missingVulkanLoader();
  // Bundlers leave this import to the runtime: the native module must not get into browser bundles, and a bundle for
  // Node finds it where it is installed. They do not follow a variable; the comments keep webpack and Vite from a
  // warning about it.
  const name = "webgpu";
  let module: typeof import("webgpu");
  try {
    module = (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as typeof import("webgpu");
  } catch (error) {
    const { reason, fix } = notLoaded(error as NodeJS.ErrnoException);
    if (noVulkan === undefined) return none(reason, fix, error);
    return none(`${reason}, and ${noVulkan}`, `${fix} Install the GPU's Vulkan driver, too.`, error);
  }
  if (noVulkan) return none(noVulkan, "Install the GPU's Vulkan driver, or use the cpu backend.");
  try {
    return module.create([`disable-dawn-features=${disabled[kind].join(",")}`]);
  } catch (error) {
    const reason = `WebGPU does not start: ${(error as Error).message}`;
    return none(reason, "Update the GPU's driver, or use the cpu backend.", error);
  }
}

const none = (reason: string, fix: string, cause?: unknown): NoDawn => ({ reason, fix, cause });

/** Why the package does not load, as Node says it: it is not there, is not whole, or the system lacks what it needs. */
function notLoaded({ code, message }: NodeJS.ErrnoException): { reason: string; fix: string } {
  const [said] = String(message).split("\n");
  if (code === "ERR_MODULE_NOT_FOUND") {
    return {
      reason: `the package webgpu is not installed where this program looks for it (${said})`,
      fix: "Run `npm install webgpu`; if that was done, copy the package with the program: with Next.js, by outputFileTracingIncludes.",
    };
  }
  if (code === "MODULE_NOT_FOUND") {
    return {
      reason: `the package webgpu has no Dawn for ${process.platform} on ${process.arch} (${said})`,
      fix: "Copy all files of the package with the program; on a platform without a build of Dawn use the cpu backend.",
    };
  }
  return {
    reason: `the package webgpu does not load (${said})`,
    fix: "Install what this names, such as a shared library or a newer C library (glibc), or use the cpu backend.",
  };
}

/** Why Vulkan cannot be there, on Linux. Dawn would find out too, and print a warning of its own. */
function missingVulkanLoader(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    // never an add-on: this always throws, and the message tells whether the library was found
    process.dlopen({ exports: {} }, "libvulkan.so.1");
  } catch (error) {
    if (/cannot open shared object file/.test((error as Error).message))
      return "there is no Vulkan loader (libvulkan.so.1) on this machine";
  }
  return undefined;
}
