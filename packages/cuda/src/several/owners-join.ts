/** Joins by the owners of parts of mixed keys: the ways between GPUs that they take. */
import {
  type GpuWays,
  type JoinedColumns,
  type JoinedSide,
  loadOwnersJoin,
  type PartStarts,
} from "warpmap/engine";
import { addressOf } from "../runtime/memory.js";
import { blocksFor } from "../table/table-state.js";
import { isSkewed } from "./hot-keys.js";
import { ownerKernels } from "./owner-kernels.js";
import type { SeveralHost } from "./results.js";
import { inOrder, noteExchange, type RowCall, RowsThere } from "./rows-there.js";
import type { SharedSide } from "./shared-join.js";

/** Null where keys or columns do not go that way, or rows are skewed. */
export async function joinByOwners(
  host: SeveralHost,
  left: SharedSide,
  right: SharedSide,
  call: RowCall,
): Promise<(JoinedColumns & { readonly gpu: number })[] | null> {
  const { gpus } = host;
  const buildsLeft = left.keys.rows < right.keys.rows;
  const build = buildsLeft ? left : right;
  const rows = left.keys.rows + right.keys.rows;
  const there = gpus.lane("there");
  let moved = 0;
  const ways: GpuWays = {
    copyLater() {
      there.after(gpus);
      there.meet();
    },
    async copy(from, source, to, target, bytes) {
      const [start, end] = [
        { gpu: source, buffer: from.buffer, offset: from.offset ?? 0 },
        { gpu: target, buffer: to.buffer, offset: to.offset ?? 0 },
      ];
      await there.hosts[source].gpu.submit("exchange", () => there.copy(source, start, end, bytes));
    },
    workLater() {
      there.meet();
      gpus.after(there);
    },
    meet: () => gpus.fence(),
    partStarts,
    agree(begins) {
      const of = (source: number, owner: number) => begins[source][owner + 1] - begins[source][owner];
      const all = [...gpus.hosts.keys()];
      const owned = all.map((owner) => all.reduce((sum, source) => sum + of(source, owner), 0));
      for (const owner of all) moved += owned[owner] - of(owner, owner);
      return !isSkewed(owned);
    },
  };
  const sides = [left, right].map(({ keys }) => RowsThere.placed(host, keys.rows, "in place"));
  try {
    const { joinByOwners } = await loadOwnersJoin();
    const own = () =>
      inOrder(gpus.hosts, async (gpu) => ({
        host: gpus.hosts[gpu],
        left: await sideAt(sides[0], gpu, left),
        right: await sideAt(sides[1], gpu, right),
      }));
    // columns are other views in each call
    const [key] = build.keys.columns;
    const data = "data" in key ? (key.data as object) : key;
    const joined = await joinByOwners(own, [rows, build.keys.rows], buildsLeft, data, ways, call);
    if (joined === null) return null;
    noteExchange(call, moved, rows, gpus, 1);
    call.onProgress?.(rows, rows);
    return joined.map((each, gpu) => ({ ...each, gpu }));
  } finally {
    for (const side of sides) side.release();
  }
}

const sideAt = async (there: RowsThere, gpu: number, { keys, columns }: SharedSide): Promise<JoinedSide> => ({
  keys: await there.keys(gpu, keys),
  columns: await there.columns(gpu, columns),
});

async function partStarts({ run, sources, starts, cursors, params }: PartStarts): Promise<void> {
  const { gpu } = run.host;
  const addresses = BigUint64Array.from(sources, (range) => BigInt(addressOf(range)));
  const listed = await run.range(addresses.byteLength);
  gpu.write(listed.buffer, 0, new Uint8Array(addresses.buffer));
  const kernel = await gpu.compile(ownerKernels.partStarts, {});
  await run.submit("part starts", (recorder) => {
    const bindings = { sources: listed, starts, cursors };
    recorder.dispatch(kernel, bindings, { ...params, SOURCES: sources.length }, blocksFor(params.FINE + 1));
  });
}
