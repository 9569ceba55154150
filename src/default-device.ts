/**
 * The device of operators that are given none: one for the process, opened by the first call that needs it. It stays
 * open, with its kernels and kept memory, and does not keep a Node process alive. After a failure to open, or after a
 * loss, the next call opens another. Not for users: who wants to hold a device opens one.
 */
import { type Device, openDevice } from "./device.js";

/** The process's device. @throws what `openDevice` throws */
export const defaultDevice: () => Promise<Device> = sharedDevice(openDevice);

/** One device that all calls share. Calls during its opening wait for it. */
export function sharedDevice(open: () => Promise<Device>): () => Promise<Device> {
  let current: Promise<Device> | undefined;
  return () => {
    if (current) return current;
    const opening = open();
    const forget = () => {
      if (current === opening) current = undefined;
    };
    current = opening;
    opening.then((device) => device.lost.then(forget), forget);
    return opening;
  };
}
