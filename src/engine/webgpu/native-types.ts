/** What programs see and say of WebGPU under a device. Named in declarations of every entry, so it imports nothing. */

/** Which GPU to use. */
export interface WebgpuOptions {
  /** Run on this GPUDevice. It stays yours: destroy() leaves it alive. Its limits and features are used as they are. */
  gpuDevice?: GPUDevice;
  /**
   * Look for a software GPU (SwiftShader, llvmpipe) in place of a real one. They are slow, and never taken unless asked
   * for.
   */
  software?: boolean;
  /** Which GPU to prefer where there are two. Default `high-performance`. */
  powerPreference?: "low-power" | "high-performance";
}

/** WebGPU's types. */
export interface WebgpuTypes {
  device: GPUDevice;
  buffer: GPUBuffer;
  /** The buffers under a table, the bytes of it that can be bound at once, and the engine's own state. */
  table: {
    readonly slots: GPUBuffer;
    readonly control: GPUBuffer;
    readonly maxBinding: number;
    readonly state: object;
  };
  /** The heads of lists and, where there are values, room and records, as lists/list-state.ts says. */
  lists: readonly { readonly buffer: GPUBuffer; readonly size: number }[];
}
