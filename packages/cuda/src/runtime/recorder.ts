/** Puts a submission's commands on the stream, each as it is recorded. */
import type { Bindings, GpuBuffer, Kernel, ParamLayers, Recorder } from "warpmap/engine";
import type { CudaContext } from "../driver/context.js";
import type { CudaKernel } from "./kernels.js";
import { native } from "./memory.js";

export class CudaRecorder implements Recorder {
  constructor(private readonly context: CudaContext) {}

  dispatch<P extends string, B extends string>(
    kernel: Kernel<P, B>,
    bindings: Bindings<B>,
    params: ParamLayers<P>,
    workgroups: number | readonly [number, number],
  ): void {
    const blocks = typeof workgroups === "number" ? workgroups : workgroups[0] * workgroups[1];
    (kernel as CudaKernel<P, B>).launch(bindings, params, blocks);
  }

  clear(buffer: GpuBuffer, offset = 0, bytes = buffer.size - offset): void {
    const { api, stream } = this.context;
    const result = api.cuMemsetD8Async(native(buffer).address + offset, 0, bytes, stream);
    this.context.check("Zeroing", result);
  }

  copy(from: GpuBuffer, fromByte: number, to: GpuBuffer, toByte: number, bytes: number): void {
    const [source, target] = [native(from).address + fromByte, native(to).address + toByte];
    const { api, stream } = this.context;
    this.context.check("Copying", api.cuMemcpyAsync(target, source, bytes, stream));
  }
}
