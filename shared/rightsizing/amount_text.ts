/**
 * Amounts in sentences.
 *
 * @module
 */
import type { ResourceName } from "../api/pod.ts";
import { formatBytes, formatCPU } from "../quantity.ts";

/** Names of the resources at a sentence's beginning. */
export const RESOURCE_TITLES: Readonly<Record<ResourceName, string>> = {
  cpu: "CPU",
  memory: "Memory",
};

/**
 * An amount as a quantity that Kubernetes reads: `250m`, `2`, `64Mi`, `88617123`. Measured CPU has up to
 * three decimals, `3.781m`; fractions of a byte, which only interpolation makes, are left out.
 */
export function amountText(resource: ResourceName, amount: number): string {
  const known = Math.min(amount, Number.MAX_SAFE_INTEGER);
  if (resource === "memory") return formatBytes(Math.trunc(known));
  const rounded = Number(known.toFixed(3));
  return Number.isInteger(rounded) ? formatCPU(rounded) : `${rounded}m`;
}
