/**
 * Group-bys on a device: rows are grouped and columns reduced there, and the answer stays there. Columns of the host
 * are uploaded, those alone that are needed. Keys that the device cannot compare as they are (floats, dictionaries) are
 * encoded on the host. Aggregates that the device does not compute are left to the host, with the groups' numbers of
 * the rows.
 */
import type { Device } from "../../device.js";
import type { Words } from "../../engine/device-columns.js";
import type { ColumnReducer } from "../../engine/reductions.js";
import { aggregatesThere, answerOf, columnOf, namesOf, reductionOf } from "../aggregate/device-aggregates.js";
import type { GroupedSource } from "../aggregate/group-states.js";
import type { NamedAggregate } from "../aggregates.js";
import type { TableColumn } from "../device/column-transport.js";
import { type DeviceKeyColumn, deviceKey, Uploads } from "../device/device-keys.js";
import type { GroupStage } from "../group-calls.js";
import type { RelationalCall } from "../relational-call.js";

/** What is grouped. */
export interface DeviceGrouping {
  readonly call: RelationalCall<GroupStage>;
  readonly rows: number;
  readonly source: GroupedSource;
  readonly aggregates: readonly NamedAggregate[];
}

/** Groups on a device, in the order of their first rows. Whoever gets them frees the columns and the numbers. */
export interface DeviceGroups {
  readonly groups: number;
  /** Keys first, then aggregates; undefined for those that are the host's. */
  readonly columns: readonly (TableColumn | undefined)[];
  /** Of the host's aggregates; null where it has none. */
  readonly left: {
    readonly aggregates: readonly NamedAggregate[];
    /** Per row the number of its group, in any order of the groups. */
    readonly groupOf: Words;
  } | null;
}

/**
 * Groups on a device; for keys that `whyGroupedOnHost` has nothing against. The caller ends the last stage, and tells
 * the plan.
 */
export async function groupOnDevice(
  device: Device,
  reducer: ColumnReducer,
  { call, rows, source, aggregates }: DeviceGrouping,
): Promise<DeviceGroups> {
  const uploads = new Uploads(device.engine);
  const { keys } = source;
  const there = aggregatesThere(source, aggregates, reducer);
  const left = aggregates.filter((aggregate) => !there.has(aggregate));
  try {
    // on their way while keys are encoded
    uploads.begin(...Array.from(there, ({ aggregate }) => columnOf(source, aggregate)));
    const encoded: DeviceKeyColumn[] = [];
    for (const key of keys) encoded.push(await deviceKey(key, rows, uploads));
    call.endStage("encode keys");

    const values = new Map<NamedAggregate, TableColumn | undefined>();
    for (const named of there) {
      const column = columnOf(source, named.aggregate);
      values.set(named, column && (await uploads.of(column)));
    }
    const kept = await Promise.all(keys.map((key) => uploads.of(key)));
    const reductions = [
      ...kept.map((column) => ({ kind: "first", column }) as const),
      ...Array.from(there, (named) => reductionOf(named.aggregate, values.get(named))),
    ];
    const reduced = await call.onEngine((engineCall) => {
      engineCall.log?.remark("aggregated on the device");
      if (left.length > 0) engineCall.log?.remark(`on the host: ${namesOf(source, left)}`);
      return reducer.reduce({ rows, columns: encoded }, reductions, {
        ...engineCall,
        numbered: left.length > 0,
      });
    });
    call.endStage("group rows");
    const { groups, groupOf } = reduced;
    let next = 0;
    const columns = [
      ...kept.map((column, k) => ({ ...column, field: { ...keys[k].field, type: column.field.type } })),
      ...aggregates.map((named) => (there.has(named) ? answerOf(named, values.get(named)) : undefined)),
    ].map((column): TableColumn | undefined => column && { ...column, ...reduced.columns[next++] });
    return { groups, columns, left: groupOf && { aggregates: left, groupOf } };
  } finally {
    await uploads.destroy();
  }
}
