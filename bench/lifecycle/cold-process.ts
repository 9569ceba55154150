/**
 * The program of a cold process, handed to `node --eval` as text: imports the library, opens a device, fills one map and asks it
 * once, from typed arrays to typed arrays. Its argument is a ColdTask as JSON; it prints a ColdResult as JSON.
 */
import type * as Library from "../../src/index.js";
import { mix } from "../mix.js";

export interface ColdTask {
  /** URL of the module that users import. */
  readonly library: string;
  readonly device: Library.OpenDeviceOptions;
  /** Entries of the map. */
  readonly size: number;
}

/** Milliseconds of each phase, and from the start of the import to the answer. */
export type ColdTimes = Readonly<Record<"import" | "open" | "create" | "insert" | "find" | "total", number>>;

/** Times, or the library's own error. */
export type ColdResult =
  | { readonly ms: ColdTimes }
  | { readonly error: { readonly code: string; readonly message: string } };

async function run({ library, device: options, size }: ColdTask): Promise<ColdTimes> {
  const [keys, values] = [new Uint32Array(size), new Uint32Array(size)];
  for (let i = 0; i < size; i++) {
    keys[i] = mix(i);
    values[i] = i;
  }
  const ends = [performance.now()];
  const note = () => ends.push(performance.now());
  const { openDevice, StaticMap } = (await import(library)) as typeof Library;
  note();
  using device = await openDevice(options);
  note();
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: size });
  note();
  const { inserted } = await map.insert(keys, values);
  note();
  const answer = await map.find(keys);
  note();
  if (inserted !== size) throw new Error(`${inserted} of ${size} keys were inserted`);
  for (let i = 0; i < size; i++) {
    if (answer.found[i] !== 1 || answer.values[i] !== i) throw new Error(`key number ${i} was not found`);
  }
  const phase = (end: number) => ends[end] - ends[end - 1];
  return {
    import: phase(1),
    open: phase(2),
    create: phase(3),
    insert: phase(4),
    find: phase(5),
    total: ends[5] - ends[0],
  };
}

async function answer(): Promise<ColdResult> {
  try {
    return { ms: await run(JSON.parse(process.argv[1]) as ColdTask) };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    return { error: { code: code ?? "", message } };
  }
}

void answer().then((result) => process.stdout.write(JSON.stringify(result)));
