/** What goes over all of a table: loaded by the first call that does. */
export { roomyCopy } from "./table-copy.js";
export { retrieveAll } from "./table-scans.js";
