/**
 * Check: can these containers be resized without a restart?
 *
 * @module
 */
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";

/** Leaves out containers that a CPU change restarts; holds when none is left. */
export function restartsContainer({ pod }: PodFacts, limits: WantedLimits): Verdict {
  const restarting = (pod?.containers ?? []).filter(({ name, restartsOnCPU }) =>
    restartsOnCPU && limits.has(name)
  );
  if (restarting.length === 0) return undefined;
  const rest = new Map(limits);
  for (const { name } of restarting) rest.delete(name);
  const names = restarting.map(({ name }) => name).join(", ");
  const message = `resizePolicy restarts ${names} on a CPU change`;
  return rest.size === 0
    ? { verdict: "hold", reason: "RestartPolicy", message }
    : { verdict: "clamp", reason: "RestartPolicy", message, limits: rest };
}
