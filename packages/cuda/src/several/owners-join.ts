/** Joins by the owners of parts of mixed keys: the ways between GPUs that they take. */
import { type GpuWays, type JoinedSide, loadOwnersJoin, type PartStarts } from "warpmap/engine";
import { addressOf } from "../runtime/memory.js";
import { blocksFor } from "../table/table-state.js";
import { isSkewed } from "./hot-keys.js";
import { ownerKernels } from "./owner-kernels.js";
import type { SeveralHost } from "./results.js";
import { inOrder, noteExchange, type RowCall, RowsThere } from "./rows-there.js";
import type { JoinedOn, SharedSide } from "./shared-join.js";

/** False, and nothing joined, where keys or columns do not go that way, or rows are skewed. */
export async function joinByOwners(
  host: SeveralHost,
  left: SharedSide,
  right: SharedSide,
  call: RowCall,
  joined: JoinedOn[],
): Promise<boolean> {
  const { gpus } = host;
  const buildsLeft = left.keys.rows < right.keys.rows;
  const [build, probe] = buildsLeft ? [left, right] : [right, left];
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
    const keys = { build: keyOf(build), probe: keyOf(probe) };
    const { signal, mostPairs, log } = call;
    const options = { signal, mostPairs, ...(log && { log }) };
    const made = await joinByOwners(own, [rows, build.keys.rows], buildsLeft, keys, ways, options);
    if (made === null) return false;
    joined.push(...made.map((each, gpu) => ({ ...each, gpu })));
    log?.remark("rows were split where they are, and parts of them went to their owners");
    noteExchange(call, moved, rows, gpus, 1);
    return true;
  } finally {
    for (const side of sides) side.release();
  }
}

/** What stands for a side's key: columns on the GPUs are other views in each call. */
function keyOf({ keys: { columns } }: SharedSide): object {
  const [key] = columns;
  return "data" in key ? (key.data as object) : key;
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
