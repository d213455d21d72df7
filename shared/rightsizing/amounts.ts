/**
 * Amounts of CPU and memory: in sentences, and times decimal factors.
 *
 * @module
 */
import { formatBytes, formatCPU } from "../quantity.ts";
import type { ResourceName } from "../api/pod.ts";

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

/** Values are rounded to millionths; errors of binary fractions are far smaller. */
const PARTS = 1_000_000;

/**
 * value × factor, truncated to a whole number as if both were decimals: 73847603 × 1.2 is 88617123, and
 * 100 × 1.15 is 115, where binary fractions make 114.99999999999999. The value counts in millionths, so
 * that 1000.9999999999999, as 1.001 CPUs become when multiplied by 1000, is 1001.
 *
 * At most `Number.MAX_SAFE_INTEGER`. Factors are at least a millionth.
 */
export function truncatedProduct(value: number, factor: number): number {
  const [whole = "", decimals = ""] = String(factor).split(".");
  const units = Math.trunc(value);
  const millionths = BigInt(units) * BigInt(PARTS) + BigInt(Math.round((value - units) * PARTS));
  const product = millionths * BigInt(whole + decimals);
  const truncated = product / (BigInt(PARTS) * 10n ** BigInt(decimals.length));
  return Math.min(Number(truncated), Number.MAX_SAFE_INTEGER);
}
