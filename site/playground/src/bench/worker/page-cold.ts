/** A page starts no process: stands in for bench/lifecycle/cold.ts. */
import type { coldRow as nodeRow } from "../../../../../bench/lifecycle/cold.js";

export const coldRow: typeof nodeRow = async (_device, size) =>
  `A page starts no cold process of ${size} keys: \`npx warpmap bench lifecycle\` does.`;
