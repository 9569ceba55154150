// Descriptions of parameters for the API reference. Most calls of all containers take the same few parameters, so each is described here
// once, by its name, and where a name means several things by its owner, too. Options are described by the names of their members.
// What a documentation comment says with @param comes first. A parameter without a description ends the build.
import { Comment, Converter, ReflectionKind } from "typedoc";

/** By the name of the parameter, or `owner.name` of the class, interface or function, or `owner.method.name`. */
const DESCRIPTIONS = {
  // containers
  keys: "Keys, one an element: a typed array, strings, an Arrow column, an array on the device; of a key of several columns a list of them.",
  given:
    "Keys, one an element: a typed array, strings, an Arrow column, an array on the device; of a key of several columns a list of them.",
  values:
    "One value a key, in the order of the keys: a typed array or an array on the device; of several columns a list of them.",
  "isIn.values":
    "The values that are looked for: an Arrow column, a typed array, strings, or a column on the device.",
  device: "The device that it lives on, and whose engine does the work.",
  op: "How the value that is there and the given one become one: `add`, `min`, `max` and others.",
  other: "One of the same types on the same device. It stays as it is.",
  bytes: "What `toBytes` answered, maybe in another process or on another engine.",
  to: "The new capacity in entries, or options.",
  capacity: "The new number of entries that fit. Default: as before.",
  keyCapacity: "The new number of distinct keys that fit. Default: as before.",
  entries: "How many entries must fit in all.",
  visit: "Called with each entry, after all of them were read.",
  container: "The container whose table the functions work on.",
  words: "The key's words of 32 bits, lowest first.",
  key: "The key.",
  value: "The value.",
  // devices, arrays and tables on them
  use: "What the memory is for.",
  type: "Type of the elements.",
  length: "Number of elements.",
  tables: "Containers that will be used: their kernels are compiled now.",
  array: "A typed array, which is copied.",
  table: "An Arrow table, of flechette or of apache-arrow.",
  "Device.prepare.tables": "Containers that will be used: their kernels are compiled now.",
  buffer: "A buffer of the application's own, on the device's GPUDevice. It stays the application's.",
  view: "Which part of the buffer, as elements of which type.",
  "view.byteOffset": "Where the part begins, in bytes. Default 0.",
  "view.length": "Number of elements. Default: up to the buffer's end.",
  "view.type": "Type of the elements.",
  start: "First element. Default 0.",
  end: "Element behind the last one. Default: the array's length.",
  data: "The new elements, from the start of the array.",
  // relational
  left: "The left table, or its batches: Arrow, or a table on the device. Its rows come first in the result.",
  right: "The right table, or its batches: Arrow, or a table on the device.",
  batch: "A part of the rows, of the same columns and types as the parts before it.",
  batches: "Parts of the rows, taken one after the other.",
  column: "Name of a column of the table.",
  "count.column": "Name of a column whose values that are not null are counted. Without: all rows.",
  set: "The values that are in the set: an Arrow column, a typed array, strings, or a column on the device.",
  at: "The part of the values that is below, 0 to 1; or several of them.",
  pair: "A row of each side whose keys are equal.",
  name: "Name of a column.",
  i: "Number of a row.",
  index: "Number of a column or a row, from 0.",
  // files
  source: "A path (in Node), or the bytes, whose format then has to be named.",
  path: "Path of the file.",
  "FileError.constructor.path": "The file's path or name.",
  names: "Names of the file's columns.",
  note: "One sentence on what was read differently from what the file says.",
  // callbacks
  done: "How much is done, in the unit of `total`.",
  total: "How much there is to do.",
  plan: "How the call was worked on, and why.",
  stage: "Name of the stage that has ended.",
  seconds: "How long it took.",
  report: "How much was written to disk.",
  // errors
  options: "The error that caused it, as `cause`.",
  problem: "What is wrong, in one sentence.",
  fix: "What to do about it, in one sentence.",
  message: "What is wrong, in one sentence.",
  code: "Stable name of the kind of error.",
  backend: "The engine that was asked for.",
  tried: "The engines that were tried, and why each could not be used.",
  numbers: "What the call came to.",
  "numbers.capacity": "Keys that are guaranteed to fit.",
  "numbers.inserted": "Keys that went in.",
  "numbers.rejected": "Keys that did not.",
  "numbers.slots": "Slots of the table.",
  text: "Other words than the usual ones.",
  "text.fix": "What to do about it.",
  "text.message": "What is wrong.",
  reason: "Why the device was lost, in WebGPU's word.",
  detail: "What the driver says of it.",
  limit: "Name of the limit.",
  need: "What the call needs of it.",
  have: "What there is.",
};

/** A TypeDoc plugin: gives parameters without a description theirs. */
export function describeParameters(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const missing = [];
    for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter)) {
      describeMembers(parameter);
      if (parameter.comment?.summary.length > 0) continue;
      const text = descriptionOf(parameter);
      if (text === undefined) missing.push(parameter.getFullName());
      else parameter.comment = new Comment([{ kind: "text", text }]);
    }
    if (missing.length > 0)
      throw new Error(
        `parameters without a description (site/generate/parameters.mjs): ${missing.join(", ")}`,
      );
  });
}

/** Members of a parameter whose type is written in place. */
function describeMembers(parameter) {
  for (const member of parameter.type?.declaration?.children ?? []) {
    const text = DESCRIPTIONS[`${parameter.name}.${member.name}`];
    if (text !== undefined && !member.comment?.summary.length)
      member.comment = new Comment([{ kind: "text", text }]);
  }
}

function descriptionOf(parameter) {
  const { name } = parameter;
  const owners = [];
  for (let owner = parameter.parent; owner && !owner.isProject(); owner = owner.parent)
    if (!owner.isSignature() && !owners.includes(owner.name) && owner.name !== "__type")
      owners.push(owner.name);
  const [member, holder] = owners;
  const text =
    DESCRIPTIONS[`${holder}.${member}.${name}`] ??
    DESCRIPTIONS[`${member}.${name}`] ??
    DESCRIPTIONS[`${holder}.${name}`];
  return text ?? (/^(options|view)$/.test(name) ? optionsText(parameter) : undefined) ?? DESCRIPTIONS[name];
}

/** The members of options: which must be there, and which may. */
function optionsText({ type }) {
  const members = membersOf(type);
  if (members.length === 0) return undefined;
  const listed = (optional) =>
    members.filter((each) => each.isOptional === optional).map((each) => `\`${each.name}\``);
  const [required, optional] = [[...new Set(listed(false))], [...new Set(listed(true))]];
  const parts = [
    ...(required.length > 0 ? [`Required: ${required.join(", ")}`] : []),
    ...(optional.length > 0
      ? [`${required.length > 0 ? "optional" : "Optional"}: ${optional.join(", ")}`]
      : []),
  ];
  return `${parts.join("; ")}.`;
}

function membersOf(type) {
  switch (type?.type) {
    case "intersection":
    case "union":
      return type.types.flatMap(membersOf);
    case "reflection":
      return namesOf(type.declaration);
    case "reference": {
      if (type.reflection) return namesOf(type.reflection);
      const [inner, names] = type.typeArguments ?? [];
      const known = membersOf(inner);
      if (type.name === "Omit") return known.filter(({ name }) => !literalsOf(names).includes(name));
      if (type.name === "Pick") return known.filter(({ name }) => literalsOf(names).includes(name));
      return type.name === "Partial" ? known.map((each) => ({ ...each, isOptional: true })) : [];
    }
    default:
      return [];
  }
}

const literalsOf = (type) =>
  type?.type === "literal" ? [type.value] : type?.type === "union" ? type.types.flatMap(literalsOf) : [];

function namesOf(reflection) {
  const own = (reflection.children ?? []).map(({ name, flags }) => ({ name, isOptional: flags.isOptional }));
  return own.length > 0 || !reflection.type ? own : membersOf(reflection.type);
}
