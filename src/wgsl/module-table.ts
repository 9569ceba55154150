/**
 * What a module stands on: the table of a container, and the lists of a multimap or a multiset, with their buffers as
 * they are now.
 */
import type { Container } from "../containers/container.js";
import type { MultiContainer } from "../containers/multi-container.js";
import type { KeyType, ValueType } from "../engine/element-types.js";
import type { TableSpec } from "../engine/layout.js";
import type { BufferInterop } from "../engine/native.js";
import type { BasicType } from "../engine/scalars.js";
import { tableBytes } from "../engine/slot-format.js";
import type { TableState } from "../engine/webgpu/table/table-state.js";
import { LimitError, ValidationError } from "../errors.js";
import { describe } from "../options.js";
import type { ListsOf } from "./module-text.js";

/** A container of any kind, as it comes out of JavaScript. */
export type AnyContainer = Partial<
  Pick<Container<KeyType, ValueType>, "device" | "engineTable" | "expectKernels"> &
    Pick<MultiContainer<BasicType, BasicType>, "engineIndex">
>;

export interface ModuleTable {
  /** Of the table; that of a multimap or a multiset has the numbers of its lists for values. */
  readonly spec: TableSpec;
  readonly lists: ListsOf | null;
  /** In the order of their binding numbers. */
  readonly buffers: readonly GPUBufferBinding[];
  readonly state: TableState;
  readonly interop: BufferInterop;
}

/**
 * The table under a container now.
 * @throws ValidationError when it was destroyed, or kernels cannot read it; LimitError when it is larger than one
 * binding
 */
export function moduleTable(container: AnyContainer): ModuleTable {
  const index = container?.engineIndex;
  const table = index ? index.table : container?.engineTable;
  if (!table) {
    throw new ValidationError(
      `The first argument is ${describe(container)}, not a map or a set.`,
      "Give a map or a set, a multimap or a multiset of warpmap.",
    );
  }
  const { spec } = table;
  if ((spec.key as string) === "utf8") {
    throw new ValidationError(
      "Kernels look up keys of numbers, and this table has strings.",
      'Use find or contains with output "device", and give your kernel their results.',
    );
  }
  const interop = container.device?.engine.interop?.buffers;
  if (interop === undefined) {
    throw new ValidationError(
      "This table is not on a GPU of WebGPU, and WGSL runs nowhere else.",
      'Create it on a device opened with { backend: "webgpu" }.',
    );
  }
  if ([spec.key, spec.value].some(Array.isArray)) {
    throw new ValidationError(
      `${container} has composites, and a kernel's functions take elements of one column.`,
      "Give a table with keys and values of one column each.",
    );
  }
  const size = tableBytes(spec);
  const gpu = interop.tableOf(table);
  if (size > gpu.maxBinding) {
    throw new LimitError(
      "maxStorageBufferBindingSize",
      size,
      gpu.maxBinding,
      "Your kernel binds the table in one piece: use a smaller capacity, a higher maxLoadFactor, or several tables.",
    );
  }
  return {
    spec,
    lists: index ? { value: index.types.value ?? null } : null,
    buffers: [
      { buffer: gpu.slots, size },
      { buffer: gpu.control },
      ...(index ? interop.listsOf(index.lists) : []),
    ],
    state: gpu.state as TableState,
    interop,
  };
}
