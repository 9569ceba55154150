// How a limit of memory is divided.
import { expect, it } from "vitest";
import { SpillSession } from "../../src/spill/spill-session.js";

it("a part and a piece of any limit have bytes that offsets of 32 bits number", () => {
  for (let limit = 2 ** 20; limit <= 2 ** 44; limit *= 2) {
    const { partBytes, pieceBytes, writeBytes } = new SpillSession({ limit }, undefined);
    expect(partBytes + pieceBytes).toBeLessThan(2 ** 31);
    expect(writeBytes).toBeLessThan(2 ** 31);
    expect(partBytes).toBe(Math.min(limit / 16, 2 ** 30));
    expect(pieceBytes).toBeLessThan(partBytes);
  }
});
