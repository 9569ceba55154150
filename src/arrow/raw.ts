/** Extraction that loses nothing: how this library has flechette read all that it makes or is given. */
import type { ExtractionOptions } from "@uwdata/flechette";

export const RAW: ExtractionOptions & { useBigIntTimestamp: boolean } = {
  useBigInt: true,
  useBigIntTimestamp: true,
  useDecimalInt: true,
};
