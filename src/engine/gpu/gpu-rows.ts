/** The webgpu engine's row operations. */
import type { DeviceArray } from "../device-array.js";
import type { DeviceColumn, DeviceKeys, KindAt, MatchCall, MatchesAt, Words } from "../device-columns.js";
import type { Placement } from "../engine.js";
import type { Keep } from "../keep.js";
import { lazily } from "../lazily.js";
import type { ColumnReducer } from "../reductions.js";
import type { GroupCall, RowGroups } from "../row-groups.js";
import type { JoinCall, RowIndex, RowOperations } from "../row-operations.js";
import type { RowKeys } from "../rows.js";
import { gatherColumns } from "./columns/gather-columns.js";
import { groupRows } from "./groups/group-rows.js";
import { type RowHost, rowHost } from "./groups/row-run.js";
import type { GpuHost } from "./host.js";
import { matchRows } from "./join/match-rows.js";
import { indexRows } from "./join/row-index.js";

const loadReduce = lazily(() => import("./reduce/reduce-groups.js"));
const loadDistinct = lazily(() => import("./reduce/distinct-rows.js"));
const loadMask = lazily(() => import("./columns/mask-rows.js"));

class GpuRows implements RowOperations {
  readonly prefers = () => true;
  readonly reducer: ColumnReducer = {
    takes: () => true,
    reduce: async (...asked) => (await loadReduce()).reduceGroups(this.#host, ...asked),
  };
  readonly #host: RowHost;
  constructor(host: GpuHost) {
    this.#host = rowHost(host);
  }

  index(keys: DeviceKeys, call: JoinCall): Promise<RowIndex> {
    return indexRows(this.#host, keys, call);
  }

  match<P extends Placement = "device">(
    left: DeviceKeys,
    right: DeviceKeys,
    how: KindAt<P>,
    call: MatchCall<P>,
  ): Promise<MatchesAt<P>> {
    return matchRows(this.#host, left, right, how, call);
  }

  gatherColumns(
    columns: readonly DeviceColumn[],
    rows: Words,
    mayLack: boolean,
    call: Pick<JoinCall, "signal">,
  ): Promise<DeviceColumn[]> {
    return gatherColumns(this.#host, columns, rows, mayLack, call);
  }

  async distinctRows(keys: DeviceKeys, keep: Keep, call: Omit<JoinCall, "nullsEqual">): Promise<Words> {
    const { distinctRows } = await loadDistinct();
    return distinctRows(this.#host, keys, keep, call);
  }

  async maskOf(rows: Words, length: number): Promise<DeviceArray<"u8">> {
    const { maskRows } = await loadMask();
    return maskRows(this.#host, rows, length);
  }

  group(keys: RowKeys, call: GroupCall): Promise<RowGroups> {
    return groupRows(this.#host, keys, call);
  }
}

/** The row operations of an engine. */
export const operationsOf = (host: GpuHost): RowOperations => new GpuRows(host);
