/**
 * Runs a chain of checks.
 *
 * @module
 */
import type { EnforcementReason } from "../api/reason.ts";
import type { Check, EnforcementInput } from "./check.ts";
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
 * Only containers whose limit differs from the pod's spec are changed.
 */
export function decide(chain: readonly Check[], input: EnforcementInput): Decision {
  let limits = new Map<string, number>();
  for (const [name, { limitCPU }] of input.intents) limits.set(name, limitCPU);
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
    limits = new Map(verdict.limits);
    clamped = { by: name, reason, message };
  }
  const changes = (input.pod?.containers ?? []).flatMap((container) => {
    const limitCPU = limits.get(container.name);
    return limitCPU === undefined || limitCPU === container.limitCPU
      ? []
      : [{ name: container.name, sidecar: container.sidecar, limitCPU }];
  });
  return { changes, ...clamped };
}
