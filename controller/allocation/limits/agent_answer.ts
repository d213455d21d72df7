/**
 * Whether the agent still stands by what it wrote.
 *
 * A new controller finds limits that an agent wanted, and cannot know whether that agent still runs: its
 * Lease may be renewed only a minute later. It publishes the bounds again under a new revision, which an
 * agent that runs answers with a new clearing, within a second.
 *
 * @module
 */
import { parseCPUBound } from "../../../shared/quantity.ts";
import type { MarketConfig } from "../../config.ts";
import type { PodCase } from "../pod_case.ts";
import { staysRestored } from "./stays_restored.ts";

/**
 * A clearing of this age, ms, needs no confirmation. Longer than a new leader takes to follow one that
 * was lost, 15 s and a little, so that an ordinary change of leader holds no resize.
 */
const EXPIRES_MS = 30_000;

/** True once the agent has cleared by bounds that this controller published. */
export function hasAnswered(
  { allocation: { spec }, memory: { publishedRevision } }: Pick<PodCase, "allocation" | "memory">,
): boolean {
  const { observedBounds } = spec.market ?? {};
  return publishedRevision !== undefined && observedBounds !== undefined &&
    observedBounds >= publishedRevision;
}

/** True when only an old clearing speaks for a change of the limits, and the agent was not asked yet. */
export function needsAnswer(
  { pod, allocation, memory }: Pick<PodCase, "pod" | "allocation" | "memory">,
  { config, wallMs }: {
    readonly config: Pick<MarketConfig, "agentSilentAfterMs">;
    /** Wall-clock time, ms since 1970; that of the clearing is by the node's clock. */
    readonly wallMs: number;
  },
): boolean {
  if (memory.publishedRevision !== undefined) return false;
  if (staysRestored(pod, allocation)) return true;
  const { containers = [], market } = allocation.spec;
  const ageMs = Math.abs(wallMs - Date.parse(market?.clearedAt ?? ""));
  const isRecent = ageMs <= Math.min(EXPIRES_MS, config.agentSilentAfterMs);
  return !isRecent && containers.some(({ name, cpuLimit }) => {
    const container = pod.containers.find((one) => one.name === name);
    return container !== undefined && container.limitCPU !== parseCPUBound(cpuLimit);
  });
}
