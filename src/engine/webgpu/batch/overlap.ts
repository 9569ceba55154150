/** What much host memory takes on its way to the GPU and back: loaded by the first large upload, or batch of several chunks. */

export { Uploads } from "../memory/uploads.js";
export { eachLargeChunk } from "./large-batches.js";
