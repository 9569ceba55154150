/** Errors of a GPUDevice, which tells them only to scopes that were open when the work was given to it. */

/**
 * Runs `work` inside error scopes; answers with the error of each, innermost first. Scopes are a stack of the device's:
 * they close in the same turn in which they opened, also when `work` throws.
 */
export function inErrorScopes<T>(
  device: GPUDevice,
  filters: readonly GPUErrorFilter[],
  work: () => T,
): { result: T; errors: Promise<(GPUError | null)[]> } {
  for (const filter of filters) device.pushErrorScope(filter);
  try {
    return { result: work(), errors: Promise.all(filters.map(() => device.popErrorScope())) };
  } catch (error) {
    for (const _ of filters) device.popErrorScope().catch(() => {});
    throw error;
  }
}
