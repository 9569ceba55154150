// What the optional peer package `webgpu` (Dawn for Node) exports. Its own declarations load @webgpu/types, whose
// globals clash with those of TypeScript's DOM library; tsconfig.json maps the package's name to this file instead.

/** Opens Dawn. Keep a strong reference to the result for as long as anything made from it is in use. */
export declare function create(options: string[]): GPU;

/** The WebGPU classes and flag namespaces that a browser has as globals. */
export declare const globals: Record<string, unknown>;
