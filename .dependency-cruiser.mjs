// Which folder of src/ may import from which; part of `npm run lint`. Each layer names all layers that its files may import, all of
// which come before it but for the first two, so that no two folders need each other. Types count as imports. What lies inside
// each engine is not divided here.

/** Imports that load nothing, or not yet: of types, and by import(). */
const LATER = ["type-only", "type-import", "dynamic-import"];

/** Files of a folder itself, not of its folders. */
const filesOf = (folder, names = "[^/]+") => `^src/${folder}${names}\\.ts$`;

/** Every operator stands on these. */
const UNDER_OPERATORS = ["base", "host", "seam", "device", "containers", "arrow"];
const COMMON = [...UNDER_OPERATORS, "spill", "relational common"];

/** Layers, the lowest first: the paths of their files, and the layers that these may import. */
const LAYERS = [
  // checks of options know a device array when they see one, and arrays on a device check their options: one layer
  { name: "base", path: filesOf("", "(abort-race|bitmaps|errors|options|until-aborted|xxh32|[^/]+\\.d)"), may: ["seam"] },
  { name: "host", path: "^src/host/", may: ["base"] },
  { name: "seam", path: filesOf("engine/", "(?!kit\\.)[^/]+"), may: ["base", "host"] },
  { name: "cpu engine", path: "^src/engine/cpu/", may: ["base", "host", "seam"] },
  { name: "gpu engines", path: "^src/engine/gpu/", may: ["base", "seam"] },
  { name: "engine kit", path: filesOf("engine/", "kit"), may: ["base", "seam", "gpu engines"] },
  { name: "webgpu engine", path: "^src/engine/webgpu/", may: ["base", "seam", "gpu engines"] },
  { name: "device", path: filesOf("", "(device|device-options|default-device)"), may: ["base", "host", "seam"] },
  { name: "containers", path: "^src/containers/", may: ["base", "seam", "device"] },
  { name: "sketches", path: "^src/sketches/", may: ["base", "seam", "device", "containers"] },
  { name: "wgsl", path: "^src/wgsl/", may: ["base", "seam", "containers", "webgpu engine"] },
  { name: "index", path: filesOf("", "index"), may: ["base", "seam", "device", "containers"] },

  { name: "arrow", path: "^src/arrow/", may: ["base", "host", "seam"] },
  { name: "io common", path: filesOf("io/", "(?!(index|units|write-batches)\\.)[^/]+"), may: ["base", "seam", "arrow"] },
  ...["arrow", "csv", "parquet"].map((format) => ({
    name: `io ${format}`,
    path: `^src/io/${format}/`,
    may: ["base", "seam", "arrow", "io common", "host"],
  })),
  {
    name: "io",
    path: filesOf("io/", "(index|units|write-batches)"),
    may: ["base", "arrow", "io common", "io arrow", "io csv", "io parquet"],
  },
  { name: "spill", path: "^src/spill/", may: ["host", "base", "seam", "device", "arrow", "io common"] },

  { name: "relational common", path: filesOf("relational/", "(?!(index|warm-up)\\.)[^/]+"), may: [...UNDER_OPERATORS, "spill"] },
  { name: "keys", path: "^src/relational/keys/", may: ["base", "seam", "arrow"] },
  { name: "device tables", path: "^src/relational/device/", may: [...COMMON, "keys"] },
  { name: "aggregate", path: "^src/relational/aggregate/", may: [...COMMON, "sketches", "keys", "device tables"] },
  { name: "join", path: "^src/relational/join/", may: [...COMMON, "keys", "device tables"] },
  // a program of its own, which has its own copy of all that it does
  {
    name: "group worker",
    path: "^src/relational/group/parts-worker\\.ts$",
    may: ["host", "cpu engine", "io parquet", "aggregate"],
  },
  {
    name: "group",
    path: "^src/relational/group/(?!parts-worker)",
    may: [...COMMON, "keys", "device tables", "aggregate", "group worker"],
  },
  {
    name: "relational",
    path: filesOf("relational/", "(index|warm-up)"),
    may: [...COMMON, "device tables", "aggregate", "join", "group"],
  },
  {
    name: "stages",
    path: "^src/stages/",
    may: [...COMMON, "keys", "aggregate", "join", "group", "io common", "io", "io csv", "io parquet", "io arrow"],
  },
  { name: "cli", path: "^src/cli/", may: "all" },
];

/** What a Device does by its methods: each is loaded when it is called, and named by its types. */
const LOADED_BY_DEVICE = [
  "^src/engine/cpu/host-levels\\.ts$",
  "^src/containers/prepare\\.ts$",
  "^src/arrow/table-input\\.ts$",
  "^src/relational/device/device-table\\.ts$",
];

/** What engines of other packages load of what stands above them. */
const LOADED_BY_KIT = ["^src/relational/warm-up\\.ts$"];

/** Where the seam lists the engines of this package: how they open, and the types of their APIs. */
const ENGINE_LISTS = "^src/engine/(registry|native)\\.ts$";
/** All that these name of an engine. */
const LISTED_OF_ENGINES = [
  "^src/engine/cpu/cpu-engine\\.ts$",
  "^src/engine/webgpu/(device/(adapter|check-options)|native-types)\\.ts$",
];

/** Files above a layer that it loads later, by import(). */
const LOADED_BY = { device: LOADED_BY_DEVICE, "engine kit": LOADED_BY_KIT };

const pathOf = (name) => LAYERS.find((layer) => layer.name === name).path;

/** No layer may import others than it names. */
const allowed = LAYERS.filter(({ may }) => may !== "all").map(({ name, path, may }) => ({
  name: `${name.replaceAll(" ", "-")}-imports-downwards`,
  comment: `Files of "${name}" import from: ${may.join(", ") || "no other folder"}.`,
  severity: "error",
  from: { path, ...(name === "seam" && { pathNot: ENGINE_LISTS }) },
  to: {
    path: "^src/",
    pathNot: [path, ...may.map(pathOf), ...(LOADED_BY[name] ?? [])],
  },
}));

export default {
  forbidden: [
    ...allowed,
    {
      name: "lists-of-engines-load-none",
      comment: "The seam's lists of engines name their types, or open them by import().",
      severity: "error",
      from: { path: ENGINE_LISTS },
      to: { path: "^src/", pathNot: [pathOf("base"), pathOf("seam"), ...LISTED_OF_ENGINES] },
    },
    {
      name: "engines-load-when-opened",
      comment: "An engine is imported by import() alone.",
      severity: "error",
      from: { path: ENGINE_LISTS },
      to: { path: LISTED_OF_ENGINES, dependencyTypesNot: LATER },
    },
    ...Object.entries(LOADED_BY).map(([name, paths]) => ({
      name: `${name.replaceAll(" ", "-")}-loads-when-called`,
      comment: `What stands above "${name}" is imported as types, or by import() in the function that needs it.`,
      severity: "error",
      from: { path: pathOf(name) },
      to: { path: paths, dependencyTypesNot: LATER },
    })),
    {
      name: "file-is-of-a-layer",
      comment: "A file that no layer has: put it into one of them in .dependency-cruiser.mjs.",
      severity: "error",
      from: { path: "^src/", pathNot: LAYERS.map(({ path }) => path) },
      to: {},
    },
    {
      name: "no-circular-files",
      comment: "Files that import each other when they load. Types, and what import() loads later, do not count.",
      severity: "error",
      from: { pathNot: [pathOf("gpu engines"), pathOf("webgpu engine")] },
      to: { circular: true, viaOnly: { dependencyTypesNot: LATER } },
    },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "^dist/"] },
    includeOnly: "^src/",
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
  },
};
