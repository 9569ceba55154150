/**
 * Composites on their way to kernels and back. Kernels of tables see the words of a key, or a value, next to each
 * other; so columns are packed before they run, and what they write is split into columns. Loaded by the first call
 * with elements of several columns.
 */
import type { ColumnInput, Output } from "../../engine.js";
import { type Scalar, scalarWords, wordsOf } from "../../scalars.js";
import { fragment, kernelSource, read, readWrite } from "../kernel-source.js";
import type { Recorder } from "../runtime.js";
import type { BatchTarget } from "./batches.js";
import { bindAt, type Chunk, type Column, type Scratch } from "./columns.js";
import type { Absent, BoundResult, Result, ResultColumn, ResultHost } from "./results.js";

const WORKGROUP = 256;

const packKernel = kernelSource(
  "pack",
  ["count", "shift", "words", "stride", "offset"],
  [
    fragment("batch/pack", {
      bindings: { column: read(), packed: readWrite() },
      constants: ["WORKGROUP"],
    }),
  ],
);

const splitKernel = kernelSource(
  "split",
  ["count", "shift", "words", "stride", "offset", "flagShift", "missing", "missingHigh"],
  [
    fragment("batch/split", {
      bindings: { packed: read(), flags: read(), column: readWrite() },
      constants: ["WORKGROUP", "FLAGGED"],
    }),
  ],
);

/** Binds the columns of a chunk's keys or values, packed where there are several. */
export async function bindColumns(
  state: Pick<BatchTarget, "host" | "submissions">,
  scalars: readonly Scalar[],
  elements: readonly ColumnInput[],
  chunk: Chunk,
  scratch: Scratch,
): Promise<Column> {
  const columns: Column[] = [];
  for (const [c, column] of elements.entries()) columns.push(await scratch.input(scalars[c], column, chunk));
  if (columns.length === 1) return columns[0];
  const { gpu } = state.host;
  gpu.after?.(scratch.gpu);
  const { count } = chunk;
  const places = placesOf(scalars);
  const buffer = await scratch.buffer(count * places.stride * 4);
  const kernel = await gpu.compile(packKernel, { WORKGROUP });
  const packed = bindAt(buffer, 0, count * places.stride * 4);
  await state.submissions.ahead("pack", (recorder) =>
    columns.forEach((column, c) => {
      const params = { count, shift: column.shift, stride: places.stride, ...places.columns[c] };
      recorder.dispatch(kernel, { column: column.range, packed: packed.range }, params, groupsFor(count));
    }),
  );
  return packed;
}

/** A result of several columns: kernels write it as one, and it is split afterwards. */
export async function compositeResult(
  host: ResultHost,
  scalars: readonly Scalar[],
  create: (type: Scalar) => Promise<ResultColumn>,
): Promise<Result<readonly Scalar[]>> {
  const columns: ResultColumn[] = [];
  for (const scalar of scalars) columns.push(await create(scalar));
  return {
    output: columns.map(({ output }) => output) as unknown as Output<readonly Scalar[]>,
    discard() {
      for (const column of columns) column.discard();
    },
    async bind(scratch, chunk) {
      const parts = await Promise.all(columns.map((column) => column.bind(scratch, chunk)));
      const bytes = chunk.count * placesOf(scalars).stride * 4;
      const packed = bindAt(await scratch.buffer(bytes), 0, bytes);
      const into = parts.map(({ column }) => column);
      return {
        column: packed,
        split: await splitting(host, packed, scalars, into),
        readback: (written) => parts.flatMap((part) => part.readback(written)),
      };
    },
  };
}

async function splitting(
  { gpu }: ResultHost,
  packed: Column,
  scalars: readonly Scalar[],
  columns: readonly Column[],
): Promise<BoundResult["split"]> {
  const { stride, columns: places } = placesOf(scalars);
  const [plain, flagged] = await Promise.all(
    [false, true].map((FLAGGED) => gpu.compile(splitKernel, { WORKGROUP, FLAGGED })),
  );
  return async (count, reads, absent) => {
    const record = (recorder: Recorder) => {
      for (const [c, column] of columns.entries()) {
        if (count === 0) return;
        const [missing, missingHigh] = absent ? wordsOf(scalars[c], elementOf(absent, c)) : [];
        const { flags } = absent ?? {};
        const bindings = { packed: packed.range, column: column.range, flags: flags?.range };
        const shifts = { shift: column.shift, flagShift: flags?.shift };
        const params = { count, stride, ...places[c], ...shifts, missing, missingHigh };
        recorder.dispatch(absent ? flagged : plain, bindings, params, groupsFor(count));
      }
    };
    await gpu.submit("split", record, reads);
  };
}

const elementOf = ({ missing }: Absent, c: number) => (missing as readonly (number | bigint)[])[c];

const groupsFor = (count: number) => Math.ceil(count / WORKGROUP);

/** Words of an element, and where those of each column lie in it. */
function placesOf(scalars: readonly Scalar[]) {
  let stride = 0;
  const columns = scalars.map((scalar) => {
    const [words, offset] = [scalarWords[scalar], stride];
    stride += words;
    return { words, offset };
  });
  return { stride, columns };
}
