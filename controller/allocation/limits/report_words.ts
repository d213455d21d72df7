/**
 * How enforcement speaks of changes.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { LimitChange } from "../../../shared/resize/patch.ts";

/** `app 200m → 450m, proxy 50m → 40m`; where requests go with them, it says so. */
export function describeChanges(pod: Pod, changes: readonly LimitChange[]): string {
  const words = changes.map(({ name, limitCPU }) => {
    const from = pod.containers.find((container) => container.name === name)?.limitCPU;
    return `${name} ${from ?? "?"}m → ${limitCPU}m`;
  }).join(", ");
  const moves = changes.some(({ requestCPU }) => requestCPU !== undefined);
  return moves ? `${words} (request and limit)` : words;
}
