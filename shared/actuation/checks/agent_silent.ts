/**
 * Is somebody still reading the node's cgroups?
 *
 * @module
 */
import type { EnforcementInput, Verdict } from "../check.ts";

/** Holds while the node's agent has not renewed its lease: its last word may be wrong by now. */
export function agentIsSilent({ agentSilent, allocation }: EnforcementInput): Verdict {
  if (!agentSilent) return undefined;
  const { nodeName } = allocation.spec;
  return {
    verdict: "hold",
    reason: "AgentSilent",
    message: `the agent of node ${nodeName} has not renewed its lease`,
  };
}
