/**
 * The limit that goes with a request.
 *
 * @module
 */
import { truncatedProduct } from "../../../shared/rightsizing/amounts.ts";

/**
 * Request × factor in whole millicores or bytes, as a policy sets it; never below the request, which
 * Kubernetes would refuse. None: Infinity.
 */
export function limitOf(request: number, factor: number | undefined): number {
  if (factor === undefined) return Infinity;
  return Math.max(request, truncatedProduct(request, factor));
}
