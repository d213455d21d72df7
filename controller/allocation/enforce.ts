/**
 * Brings a pod's limits to what its allocation asks for, or back to the user's own.
 *
 * @module
 */
import { MARKET_CHAIN, RESTORE_CHAIN } from "../../shared/actuation/chains.ts";
import { decide, type Decision } from "../../shared/actuation/decide.ts";
import { arbitrate, type Intent } from "../../shared/actuation/intent.ts";
import { resizePatch } from "../../shared/actuation/resize_patch.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { parseCPU } from "../../shared/quantity.ts";
import type { Gathered } from "./gather.ts";
import { ownValues } from "./own_limits.ts";
import type { PodResizer } from "./ports.ts";
import type { OutOfScope } from "./scope.ts";

/** What enforcement needs beside the API's state. */
export interface EnforceContext {
  readonly resizer: PodResizer;
  readonly outOfScope: OutOfScope | undefined;
  readonly agentSilent: boolean;
  readonly backOffMs: number;
  /** See `EnforcementInput.takeTurn`; urgent changes go first. */
  readonly takeTurn: (urgent: boolean) => number;
  readonly dryRun: boolean;
}

/** What became of it. */
export interface Enforcement {
  readonly decision: Decision;
  /** True when a patch was accepted by the server. */
  readonly patched: boolean;
  /** The server's refusal. */
  readonly refusal?: ApiError;
}

/** Changes that nobody waits for. */
const UNHURRIED: ReadonlySet<string> = new Set(["DemandFell", "LoanGiven"]);

/** What the allocation asks for. */
export function marketIntents({ spec }: PodAllocation): Intent[] {
  const reason = spec.market?.reason ?? "FirstClearing";
  return (spec.containers ?? []).map(({ name, cpuLimit }) => ({
    source: "market",
    container: name,
    limitCPU: parseCPU(cpuLimit),
    reason,
  }));
}

/** The user's own limits; empty when they are not on record. */
export function restoreIntents({ status }: PodAllocation, reason: string): Intent[] {
  return [...ownValues(status?.originalLimits)].map(([container, limitCPU]) => ({
    source: "restore",
    container,
    limitCPU,
    reason,
  }));
}

/** Gathers the wishes, asks the chain, sends one patch. Throws nothing that the server answers. */
export async function enforce(
  { pod, allocation }: Gathered & { readonly allocation: PodAllocation },
  context: EnforceContext,
): Promise<Enforcement> {
  const { outOfScope, agentSilent, resizer } = context;
  const restoring = outOfScope !== undefined || agentSilent;
  const intents = restoring
    ? restoreIntents(allocation, outOfScope?.reason ?? "AgentSilent")
    : marketIntents(allocation);
  const urgent = restoring || intents.some(({ reason }) => !UNHURRIED.has(reason));
  const decision = decide(restoring ? RESTORE_CHAIN : MARKET_CHAIN, {
    allocation,
    pod,
    agentSilent,
    intents: arbitrate(intents),
    backOffMs: context.backOffMs,
    takeTurn: () => context.takeTurn(urgent),
    ...(outOfScope === undefined ? {} : { outOfScope }),
  });
  if (decision.changes.length === 0) return { decision, patched: false };
  if (context.dryRun) {
    return { decision: { ...decision, changes: [], reason: "DryRun" }, patched: false };
  }
  const { namespace, name, uid } = pod.metadata;
  try {
    await resizer.resize(namespace, name, resizePatch(uid, decision.changes));
    return { decision, patched: true };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { decision, patched: false, refusal: error };
  }
}
