/** What programs see of WebGPU under a device. Named in declarations of every entry, so it imports nothing. */

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
