/**
 * What a pod's field managers say of its original limits, read apart from the product's own reading.
 *
 * @module
 */
import type { PodContainer } from "../../shared/api/pod.ts";
import { parseCPU } from "../../shared/quantity.ts";

/** True for a limit that the market has set: no other client manages it. */
export function isOfMarket({ limitManagers = [] }: PodContainer): boolean {
  return limitManagers.length > 0 && limitManagers.every((name) => /^mbcas(\/|$)/.test(name));
}

/** The original limit that the pod itself has for its container at `index`, millicores. */
export function carriedLimit(container: PodContainer, index: number): number | undefined {
  if (!isOfMarket(container)) return container.limits.cpu;
  const text = container.limitManagers?.[0]?.split("/")[1]?.split(",")[index] ?? "";
  return text === "" ? undefined : parseCPU(text);
}
