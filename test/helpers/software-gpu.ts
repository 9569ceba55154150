/** Whether WebGPU in Node is SwiftShader: vitest.config.ts points the Vulkan loader at it, unless there is a real GPU. */
export const onSwiftShader = /swiftshader/i.test(globalThis.process?.env?.VK_ICD_FILENAMES ?? "");
