/**
 * Runs a chain of checks.
 *
 * @module
 */
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";
import type { Pod } from "../api/pod.ts";
import { MANUAL_CHAIN } from "./chains.ts";
import type { Check, EnforcementInput, PodFacts, WantedLimits } from "./check.ts";
import { containersWith, movesRequest } from "./moved_request.ts";
import type { LimitChange } from "./resize_patch.ts";

/** What the chain came to. */
export interface Decision {
  /** Containers to change now; empty when held. */
  readonly changes: readonly LimitChange[];
  /** The check that held or was the last to clamp; absent when none did. */
  readonly by?: string;
  readonly reason?: EnforcementReason;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/**
 * Asks every check in order. The first hold ends it; a clamp changes the wanted limits and goes on.
 * Only containers that differ from the pod's spec are changed; in a Guaranteed pod the request goes
 * with the limit.
 */
export function decide(chain: readonly Check[], input: EnforcementInput): Decision {
  const wanted = new Map<string, number>();
  for (const [name, { limitCPU }] of input.intents) wanted.set(name, limitCPU);
  return decideLimits(chain, input, wanted);
}

/**
 * What a person's own hand may set, through the checks that hold for everybody: `limits` in
 * millicores by container name. Nothing is sent; a clamp is told in `reason` and `message`.
 */
export function decideManually(facts: PodFacts, limits: WantedLimits): Decision {
  return decideLimits(MANUAL_CHAIN, facts, limits);
}

function decideLimits<Facts extends PodFacts>(
  chain: readonly Check<Facts>[],
  input: Facts,
  wanted: WantedLimits,
): Decision {
  let limits = wanted;
  let clamped: Omit<Decision, "changes"> = {};
  for (const { name, check } of chain) {
    const verdict = check(input, limits);
    if (verdict === undefined) continue;
    const { reason, message } = verdict;
    if (verdict.verdict === "hold") {
      const { retryAfterMs } = verdict;
      const held = { changes: [], by: name, reason, message };
      return retryAfterMs === undefined ? held : { ...held, retryAfterMs };
    }
    limits = verdict.limits;
    clamped = { by: name, reason, message };
  }
  return { changes: changesOf(input.pod, limits), ...clamped };
}

function changesOf(pod: Pod | undefined, limits: WantedLimits): readonly LimitChange[] {
  if (pod === undefined) return [];
  const moves = movesRequest(pod);
  return containersWith(pod, limits).flatMap((next, index): LimitChange[] => {
    const { name, sidecar, limitCPU, requestCPU } = next;
    const present = pod.containers[index];
    const same = limitCPU === present?.limitCPU && requestCPU === present?.requestCPU;
    if (same || limitCPU === undefined) return [];
    const change = { name, sidecar, limitCPU };
    return [moves && requestCPU !== undefined ? { ...change, requestCPU } : change];
  });
}
