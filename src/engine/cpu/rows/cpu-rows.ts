/** The cpu engine's row operations, on the engine's threads. They reject once it is destroyed, also those under way. */
import type { DeviceArray } from "../../device-array.js";
import type { DeviceColumn, DeviceKeys, KindAt, MatchCall, MatchesAt, Words } from "../../device-columns.js";
import type { Placement } from "../../engine.js";
import type { SumCall, SummedColumn, SummedGroups } from "../../group-sums.js";
import type { Keep } from "../../keep.js";
import type { GroupCall, RowGroups } from "../../row-groups.js";
import type { JoinCall, RowIndex, RowOperations } from "../../row-operations.js";
import type { RowKeys } from "../../rows.js";
import type { CpuEngine } from "../cpu-engine.js";
import { groupRows } from "../groups/group-rows.js";
import { sumGroups } from "../groups/sum-groups.js";
import { indexRows } from "../join/row-index.js";
import { gatherColumns, hostKeys, matchRows, placedIndex } from "./device-columns.js";
import { distinctRows, maskRows } from "./distinct-rows.js";
import { rowThreads } from "./row-threads.js";

export class CpuRows implements RowOperations {
  readonly prefers = () => false;
  readonly reducer = null;
  readonly #engine: CpuEngine;

  constructor(engine: CpuEngine) {
    this.#engine = engine;
  }

  async index(keys: DeviceKeys, call: JoinCall): Promise<RowIndex> {
    this.#engine.guard();
    return placedIndex(
      this.#engine,
      await indexRows(hostKeys(keys), call, undefined, rowThreads(this.#engine)),
    );
  }

  async match<P extends Placement = "device">(
    left: DeviceKeys,
    right: DeviceKeys,
    how: KindAt<P>,
    call: MatchCall<P>,
  ): Promise<MatchesAt<P>> {
    this.#engine.guard();
    return matchRows(this.#engine, left, right, how, call);
  }

  async gatherColumns(
    columns: readonly DeviceColumn[],
    rows: Words,
    mayLack: boolean,
    call: Pick<JoinCall, "signal">,
  ): Promise<DeviceColumn[]> {
    this.#engine.guard();
    return gatherColumns(this.#engine, columns, rows, mayLack, call);
  }

  async distinctRows(keys: DeviceKeys, keep: Keep, call: Omit<JoinCall, "nullsEqual">): Promise<Words> {
    this.#engine.guard();
    return distinctRows(this.#engine, keys, keep, call);
  }

  async maskOf(rows: Words, length: number): Promise<DeviceArray<"u8">> {
    this.#engine.guard();
    return maskRows(this.#engine, rows, length);
  }

  async group(keys: RowKeys, call: GroupCall): Promise<RowGroups> {
    this.#engine.guard();
    return groupRows(this.#engine, keys, call);
  }

  async sumGroups(keys: RowKeys, columns: readonly SummedColumn[], call: SumCall): Promise<SummedGroups> {
    this.#engine.guard();
    return sumGroups(this.#engine, keys, columns, call);
  }
}
