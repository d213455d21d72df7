/**
 * Whether the agent may still stand by what it wrote.
 *
 * @module
 */
import type { MarketConfig } from "../../config.ts";
import type { PodCase } from "../pod_case.ts";

/**
 * Desired limits of this age, ms, count only where the agent was heard since. Longer than a new leader
 * takes to follow one that was lost, 15 s and a little, so that an ordinary change holds no resize.
 */
const EXPIRES_MS = 30_000;

/** What the age is judged by. */
export interface AgeContext {
  readonly config: Pick<MarketConfig, "agentSilentAfterMs">;
  readonly heardSinceStart: (nodeName: string) => boolean;
  /** Wall-clock time, ms since 1970; that of the desired limits is by the node's clock. */
  readonly wallMs: number;
}

/** True when only an old clearing speaks for the desired limits: the agent may have died since. */
export function isExpired(
  { pod, allocation }: Pick<PodCase, "pod" | "allocation">,
  { config, heardSinceStart, wallMs }: AgeContext,
): boolean {
  const ageMs = Math.abs(wallMs - Date.parse(allocation.spec.market?.clearedAt ?? ""));
  const isRecent = ageMs <= Math.min(EXPIRES_MS, config.agentSilentAfterMs);
  return !isRecent && !heardSinceStart(pod.nodeName);
}
