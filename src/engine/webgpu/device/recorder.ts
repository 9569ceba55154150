/** Records a submission's commands with a GPUCommandEncoder. */
import type { Bindings, GpuBuffer, Kernel, ParamLayers, Recorder } from "../../gpu/runtime.js";
import type { WebgpuKernel } from "./kernels.js";

export const native = (buffer: GpuBuffer): GPUBuffer => buffer as GPUBuffer;

export class WebgpuRecorder implements Recorder {
  /** What begins the pass of a kernel: traces have it timed. */
  describe: (label: string) => GPUComputePassDescriptor = (label) => ({ label });

  constructor(readonly encoder: GPUCommandEncoder) {}

  dispatch<P extends string, B extends string>(
    kernel: Kernel<P, B>,
    bindings: Bindings<B>,
    params: ParamLayers<P>,
    workgroups: number | readonly [number, number],
  ): void {
    const pass = this.encoder.beginComputePass(this.describe(kernel.source.label));
    (kernel as WebgpuKernel<P, B>).encode(pass, bindings, params, workgroups);
  }

  clear(buffer: GpuBuffer, offset?: number, bytes?: number): void {
    this.encoder.clearBuffer(native(buffer), offset, bytes);
  }

  copy(from: GpuBuffer, fromByte: number, to: GpuBuffer, toByte: number, bytes: number): void {
    this.encoder.copyBufferToBuffer(native(from), fromByte, native(to), toByte, bytes);
  }
}
