/** Where operators get what they need for inputs larger than memory; no page loads it. */
import { lazily } from "../engine/lazily.js";

export const loadSpill = lazily(() => import("../spill/index.js"));
