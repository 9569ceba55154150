/** The stand-in for the driver (emulator/), and the faults that it is told to have. */
import koffi from "koffi";
import { afterEach } from "vitest";

type Fault = "DEVICES" | "DRIVER" | "MEMORY" | "SHARED" | "FAULT" | "OPEN" | "WAIT" | "LAZY";

/** Without faults, as `emulatedGpuEnv` has it. */
const SOUND: Readonly<Record<Fault, number>> = {
  DEVICES: 1,
  DRIVER: 13000,
  MEMORY: 2 ** 32,
  SHARED: 227 * 1024,
  FAULT: 0,
  OPEN: 0,
  WAIT: 30,
  LAZY: 0,
};

const inject = koffi
  .load(process.env.WARPMAP_CUDA_DRIVER as string)
  .func("warpmapEmulatorInject", "int", ["const char *", "uint64_t"]);

/** Has the stand-in fail from now on; after each test of the file it is sound again. */
export function useFaults(): (fault: Fault, value: number) => void {
  afterEach(() => {
    for (const [fault, value] of Object.entries(SOUND)) inject(fault, value);
  });
  return (fault, value) => inject(fault, value);
}
