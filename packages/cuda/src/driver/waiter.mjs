// A thread that blocks in cuEventSynchronize, so that neither JavaScript nor the threads of its file system do. Gets
// events in the order in which they were recorded; says of each when it came, with the result.
import { parentPort, workerData } from "node:worker_threads";
import koffi from "koffi";

const { library, context } = workerData;
const driver = koffi.load(library);
driver.func("cuCtxSetCurrent", "int", ["uint64_t"])(context);
const synchronize = driver.func("cuEventSynchronize", "int", ["uint64_t"]);
parentPort.on("message", (event) => parentPort.postMessage(synchronize(event)));
