/**
 * Group-bys on a device: rows are grouped and columns reduced there, and the answer stays there. Columns of the host are uploaded, those
 * alone that are needed. Keys that the device cannot compare as they are (floats, dictionaries) are encoded on the host.
 */
import type { Device } from "../device.js";
import type { ColumnReducer } from "../engine/reductions.js";
import { answerOf, columnOf, reductionOf } from "./aggregate/device-aggregates.js";
import type { GroupedSource } from "./aggregate/group-states.js";
import type { NamedAggregate } from "./aggregates.js";
import type { TableColumn } from "./column-transport.js";
import type { SourceColumn } from "./columns.js";
import { type DeviceKeyColumn, keyOf, plainWords, Uploads } from "./device-keys.js";
import { DeviceTable, toHost } from "./device-table.js";
import { encodeOwnKeys } from "./encode-keys.js";
import type { GroupStage } from "./group-calls.js";
import type { RelationalCall } from "./relational-call.js";

/** What is grouped. */
export interface DeviceGrouping {
  readonly call: RelationalCall<GroupStage>;
  readonly rows: number;
  readonly source: GroupedSource;
  readonly aggregates: readonly NamedAggregate[];
}

/** Groups on a device; aggregates that `whyOnHost` has none against. The caller ends the last stage, and tells the plan. */
export async function groupOnDevice(
  device: Device,
  reducer: ColumnReducer,
  { call, rows, source, aggregates }: DeviceGrouping,
): Promise<DeviceTable> {
  const uploads = new Uploads(device.engine);
  const { keys, columns } = source;
  try {
    // on their way while keys are encoded
    uploads.begin(...columns.values());
    const encoded: DeviceKeyColumn[] = [];
    for (const key of keys) encoded.push(await deviceKey(key, rows, uploads));
    call.endStage("encode keys");

    const values: (TableColumn | undefined)[] = [];
    for (const { aggregate } of aggregates) {
      const column = columnOf(source, aggregate);
      values.push(column && (await uploads.of(column)));
    }
    const kept = await Promise.all(keys.map((key) => uploads.of(key)));
    const reductions = [
      ...kept.map((column) => ({ kind: "first", column }) as const),
      ...aggregates.map(({ aggregate }, i) => reductionOf(aggregate, values[i])),
    ];
    const reduced = await call.onEngine((engineCall) => {
      engineCall.log?.remark("aggregated on the device");
      return reducer.reduce({ rows, columns: encoded }, reductions, engineCall);
    });
    call.endStage("group rows");
    // a device aggregates as it groups: the stage has no time of its own
    call.endStage("aggregate");
    const made = [
      ...kept.map((column, k) => ({ ...column, field: { ...keys[k].field, type: column.field.type } })),
      ...aggregates.map((aggregate, i) => answerOf(aggregate, values[i])),
    ].map((column, i): TableColumn => ({ ...column, ...reduced.columns[i] }));
    return new DeviceTable(device, reduced.groups, made);
  } finally {
    await uploads.destroy();
  }
}

async function deviceKey(key: SourceColumn, rows: number, uploads: Uploads): Promise<DeviceKeyColumn> {
  const words = plainWords(key, key);
  const own = words === undefined ? undefined : keyOf(await uploads.of(key), words);
  return own ?? encodeOwnKeys([await toHost(key)], rows).columns[0];
}
