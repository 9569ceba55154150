/** The program of the workers that encode row groups of Parquet files. */

import { provide } from "../../host/provide.js";
import { type EncodedGroup, GroupEncoder, type PackedGroup } from "./parquet-groups.js";
import { unpackedLeaf } from "./parquet-packed-rows.js";

/** For the columns of the last job: most jobs are of the same file. */
let encoder = new GroupEncoder([]);
let encodes = "[]";

provide<PackedGroup, EncodedGroup>(
  "parquet-write",
  ({ leaves, columns, rows }) => {
    const asked = JSON.stringify(leaves);
    if (asked !== encodes) [encoder, encodes] = [new GroupEncoder(leaves), asked];
    return encoder.encode(
      columns.map((column, i) => column && unpackedLeaf(column, leaves[i].element)),
      rows,
    );
  },
  ({ bytes }) => [bytes],
);
