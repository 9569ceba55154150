/** What goes over all of a table: loaded by the first call that does. */
export { roomyCopy } from "../direct/table-copy.js";
export { retrieveAll } from "./retrieve-all.js";
