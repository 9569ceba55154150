/** One element of each key of a batch, the first or the last. Loaded by the first insert that asks for one of them. */
import { EngineError } from "../../../errors.js";
import { type KeyType, lengthOf } from "../../element-types.js";
import type { ChooseCall, Chosen, Input } from "../../engine.js";
import { bindElements } from "../../gpu/batch/batches.js";
import { forEachChunk } from "../../gpu/batch/chunks.js";
import { newArray, placeOf, Scratch } from "../../gpu/batch/columns.js";
import { checkBinding } from "../../gpu/check-binding.js";
import { filling } from "../../gpu/fill.js";
import { kernelSource, read, readWrite } from "../../gpu/kernel-source.js";
import { selected } from "../../gpu/selected.js";
import { EMPTY } from "../../layout.js";
import { wgsl } from "../device/module-code.js";
import { control } from "../table/control.js";
import { slotCount } from "../table/plain-slots.js";
import type { TableState } from "../table/table-state.js";
import chooseCode from "./choose.wgsl";
import numbers from "./choose-numbers.wgsl";
import { exchange, type TableKernels } from "./direct-kernels.js";
import markCode from "./mark-chosen.wgsl";

/** Slots per element: load factor 0.5 when no two keys are equal. */
const SLOTS_PER_ELEMENT = 2;
/** Times that a chunk may go again because of spurious failures, 256 an element, before the driver is called broken. */
const MOST_ROUNDS = 64;
/** Elements of a workgroup. */
const TILE = 1024;

const params = ["slots", "seed", "first", "count", "total", "keyShift", "maskShift"] as const;
type Param = (typeof params)[number];
type BindingName = "control" | "keys" | "mask" | "table" | "places" | "chosen";
type Constant = "MASKED" | "LAST";
const FIX = "Insert in smaller batches.";

/**
 * Says of every element whether it is the one of its key.
 * @throws LimitError when the batch takes more than the GPU binds at once or has memory for
 */
export async function choose<K extends KeyType>(
  state: TableState,
  keys: Input<K>,
  which: "first" | "last",
  call: ChooseCall,
): Promise<Chosen> {
  const { host, sources } = state;
  const length = lengthOf(keys);
  const chosen = await newArray(host.engine, host.gpu, "u8", length);
  const scratch = new Scratch(host.gpu);
  try {
    for (const bytes of [sources.format.keyWords * 4, SLOTS_PER_ELEMENT * 4])
      checkBinding(host.gpu, length * bytes, FIX);
    const selected = await state.submissions.run(undefined, () =>
      length === 0 ? Promise.resolve(0) : chooseIn(state, scratch, { keys, which, call, chosen }),
    );
    return { chosen, selected };
  } catch (error) {
    chosen.destroy();
    throw error;
  } finally {
    scratch.release();
  }
}

interface Choice<K extends KeyType> {
  readonly keys: Input<K>;
  readonly which: "first" | "last";
  readonly call: ChooseCall;
  readonly chosen: Chosen["chosen"];
}

/** Answers the elements that the mask selects. */
async function chooseIn<K extends KeyType>(
  state: TableState,
  scratch: Scratch,
  { keys, which, call, chosen }: Choice<K>,
): Promise<number> {
  const { host, spec, sources } = state;
  const { gpu, pacer } = host;
  const total = lengthOf(keys);
  const all = { first: 0, count: total };
  const columns = {
    keys: await bindElements(state, sources.format.keyScalars, keys, all, scratch),
    mask: call.where && (await scratch.input("u8", call.where, all)),
  };
  const slots = SLOTS_PER_ELEMENT * total;
  const size = Math.ceil(slots / 4) * 16;
  const table = { buffer: await scratch.buffer(size), offset: 0, size };
  const { range: places } = await scratch.column("u32", total);
  const { buffer } = placeOf(chosen);
  const bindings = {
    control: { buffer: state.buffers.control },
    keys: columns.keys.range,
    mask: columns.mask?.range,
    table,
    places,
    chosen: { buffer, size: Math.ceil(total / 4) * 4 },
  };
  const given = {
    slots,
    seed: spec.seed,
    total,
    keyShift: columns.keys.shift,
    maskShift: columns.mask?.shift,
  };
  const constants = { MASKED: columns.mask !== undefined, LAST: which === "last" };
  const [choosing, marking, fill] = await Promise.all([
    gpu.compile(chooseKernel(sources), constants),
    gpu.compile(markKernel, constants),
    filling(gpu, EMPTY),
  ]);
  await state.submit("clear", [], (recorder) => fill(recorder, table));
  const limits = { operation: `choose ${which}`, bindable: Number.POSITIVE_INFINITY };
  const { signal } = call;
  await forEachChunk(pacer, limits, total, { signal }, async (chunk) => {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const { unfinished } = await state.submit("choose", [], (recorder) =>
        recorder.dispatch(choosing, bindings, { ...given, ...chunk }, Math.ceil(chunk.count / TILE)),
      );
      if (unfinished === 0) return;
    }
    throw new EngineError(`Compare-exchange failed ${MOST_ROUNDS} times 256 times in a row.`);
  });
  let selected = 0;
  await forEachChunk(pacer, { ...limits, operation: "mark chosen" }, total, { signal }, async (chunk) => {
    const counters = await state.submit("mark chosen", [], (recorder) =>
      recorder.dispatch(marking, bindings, { ...given, ...chunk }, Math.ceil(chunk.count / TILE)),
    );
    selected += counters.selected;
  });
  return selected;
}

const numbering = wgsl(numbers, {
  constants: [
    /** The last element of each key is chosen, in place of the first. */
    "LAST",
  ],
});

function chooseKernel(sources: TableKernels) {
  return sources.once("choose", () =>
    kernelSource<Param, BindingName, Constant>("choose", params, [
      sources.probing,
      slotCount,
      sources.keyColumn,
      control,
      selected,
      numbering,
      wgsl("alias Word = u32;", { bindings: { table: readWrite("array<atomic<Word>>") } }),
      exchange,
      wgsl(chooseCode, { bindings: { keys: read(), places: readWrite() } }),
    ]),
  );
}

const markKernel = kernelSource<Param, BindingName, Constant>("mark chosen", params, [
  control,
  selected,
  numbering,
  wgsl(markCode, { bindings: { table: read(), places: read(), chosen: readWrite() } }),
]);
