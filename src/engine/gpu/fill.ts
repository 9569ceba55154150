/** Filling GPU memory with one word. */
import { fragment, kernelSource, readWrite } from "./kernel-source.js";
import { type GpuRuntime, MAX_WORKGROUPS, type Range, type Recorder } from "./runtime.js";

const source = kernelSource(
  "fill",
  [],
  [fragment("device/fill", { bindings: { words: readWrite("array<vec4u>") }, constants: ["WORD"] })],
);

/**
 * What records the writing of `word` all over a range, which may be larger than a binding. Its size is a multiple of 16
 * bytes.
 */
export async function filling(
  gpu: GpuRuntime,
  word: number,
): Promise<(recorder: Recorder, range: Range) => void> {
  const kernel = await gpu.compile(source, { WORD: word });
  const most = Math.floor(gpu.traits.maxBinding / 256) * 256;
  return (recorder, { buffer, offset: start = 0, size: bytes = buffer.size - start }) => {
    for (let at = 0; at < bytes; at += most) {
      const size = Math.min(most, bytes - at);
      const workgroups = Math.min(MAX_WORKGROUPS, Math.ceil(size / 16 / 256));
      recorder.dispatch(kernel, { words: { buffer, offset: start + at, size } }, {}, workgroups);
    }
  };
}
