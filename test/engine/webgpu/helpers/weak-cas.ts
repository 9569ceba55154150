/**
 * Devices whose compare-exchange fails at random, as atomicCompareExchangeWeak may by the specification and does on Metal:
 * variants of cas.wgsl and cas-seen.wgsl. On SwiftShader, and on most GPUs, the real one never fails.
 */
import { Device } from "../../../../src/index.js";
import { openVariant } from "./variants.js";

export interface Injection {
  /** Compare-exchanges out of 100 that fail though the word is as expected. */
  percent: number;
  /**
   * What a failure reports. `expected`: the word as it is, which is how a spurious failure looks. `another`: a word that is
   * not there, so that the kernel believes it lost against somebody, as a kernel does that takes every failure for a loss.
   */
  reports?: "expected" | "another";
  /** Room in the worklists of elements that a dispatch leaves to the next one. */
  worklistRoom?: number;
  /** Bytes of the largest range of a table that is bound at once. */
  maxTableBinding?: number;
  /** Steps above which the keys of a full table are copied. */
  copyAboveSteps?: number;
}

/**
 * A device whose tables are changed through the variant.
 * @param seen what its engine sees of the GPUDevice.
 */
export async function openWeakDevice(
  injection: Injection,
  seen?: (gpuDevice: GPUDevice) => GPUDevice,
): Promise<Device> {
  const { worklistRoom, maxTableBinding, copyAboveSteps } = injection;
  const tuning = { cas: weakCas(injection), worklistRoom, maxTableBinding, copyAboveSteps };
  const engine = await openVariant({ tuning }, seen);
  return new Device(engine, "A test with injected failures.");
}

/**
 * The variant's text. Whether a call fails is a hash of the word, of the calls in its workgroup before it (which differ with
 * the other invocations' progress), and of the dispatch.
 */
export function weakCas({ percent, reports = "expected" }: Injection): string {
  return weakCasOf(percent, reports, "params.stepBudget ^ murmur3(params.worklistFrom ^ SALT)");
}

/** The same for the kernels that number rows, whose parameters are others. */
export function weakRowCas(percent: number): string {
  return weakCasOf(percent, "expected", "params.first ^ murmur3(params.round ^ SALT)");
}

/** The same for the kernel that numbers keys. */
export function weakKeyCas(percent: number): string {
  return weakCasOf(percent, "expected", "params.first ^ SALT");
}

/** @param dispatch WGSL of a word that differs between dispatches. */
function weakCasOf(percent: number, reports: "expected" | "another", dispatch: string): string {
  return `
    struct Claim { old: u32, stored: bool }
    const SALT: u32 = 0x51ed270bu;
    var<workgroup> calls: atomic<u32>;

    fn failsSpuriously(word: u32) -> bool {
      let round = murmur3(${dispatch});
      return murmur3(murmur3(word ^ round) + atomicAdd(&calls, 1u)) % 100u < ${percent}u;
    }

    fn compareExchange(word: u32, expected: u32, desired: u32) -> Claim {
      let seen = bitcast<u32>(atomicLoad(&table[word]));
      if (seen == expected && failsSpuriously(word)) {
        return Claim(${reports === "expected" ? "expected" : "desired ^ 1u"}, false);
      }
      let result = atomicCompareExchangeWeak(&table[word], bitcast<Word>(expected), bitcast<Word>(desired));
      return Claim(bitcast<u32>(result.old_value), result.exchanged);
    }`;
}

/** The same of cas-seen.wgsl. */
export function weakCasSeen(percent: number): string {
  return `
    struct Exchange { old: u32, stored: bool }
    var<workgroup> calls: atomic<u32>;

    fn exchangeSeen(at: u32, word: u32) -> Exchange {
      let fails = murmur3(murmur3(word) + atomicAdd(&calls, 1u)) % 100u < ${percent}u;
      if (fails && atomicLoad(&seen[at]) == 0u) { return Exchange(0u, false); }
      let result = atomicCompareExchangeWeak(&seen[at], 0u, word);
      return Exchange(result.old_value, result.exchanged);
    }`;
}
