/** WebGPU's usage and map bits. Browsers have them as globals, Node does not, and this library writes no globals. */
export const BufferUsage = {
  MAP_READ: 0x1,
  MAP_WRITE: 0x2,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
  QUERY_RESOLVE: 0x200,
} as const;

/**
 * Usage of the memory that kernels work on: tables, device arrays, scratch. One usage, so that one buffer serves each
 * in turn.
 */
export const STORAGE_USAGE = BufferUsage.STORAGE | BufferUsage.COPY_SRC | BufferUsage.COPY_DST;

/** GPUMapMode.WRITE. */
export const MAP_MODE_WRITE = 2;
/** GPUMapMode.READ. */
export const MAP_MODE_READ = 1;
/** GPUShaderStage.COMPUTE. */
export const STAGE_COMPUTE = 4;
