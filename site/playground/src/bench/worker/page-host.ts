/** What a page can say of its machine: stands in for bench/host.ts. */
import type { hostFacts as nodeFacts } from "../../../../../bench/host.js";

interface UserAgentData {
  readonly brands: readonly { readonly brand: string; readonly version: string }[];
  readonly platform: string;
}

export function hostFacts(): ReturnType<typeof nodeFacts> {
  const { userAgentData } = navigator as Navigator & { userAgentData?: UserAgentData };
  const brand = userAgentData?.brands.find(({ brand }) => !/not.?a.?brand/i.test(brand.replace(/\W/g, "")));
  const platform = userAgentData?.platform || /\(([^)]*)\)/.exec(navigator.userAgent)?.[1] || "unknown";
  return {
    machine: `${navigator.hardwareConcurrency || 1} threads, ${platform}`,
    node: brand ? `${brand.brand} ${brand.version}` : navigator.userAgent,
    commit: null,
  };
}
