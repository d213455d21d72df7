/**
 * Reads the status of a policy as the server has it: written by this version, an older or a newer one,
 * or by somebody else.
 *
 * @module
 */
import * as z from "zod";
import {
  policyConditionSchema,
  type PolicyStatus,
  policyStatusSchema,
  workloadStatusSchema,
} from "./policy_status.ts";

/** A list without the items that the schema does not take. */
export function readableItems<T extends z.ZodType>(item: T): z.ZodType<z.output<T>[]> {
  return z.preprocess(
    (list) => Array.isArray(list) ? list.filter((one) => item.safeParse(one).success) : list,
    z.array(item),
  );
}

const { conditions: _conditions, workloads: _workloads, ...counts } = policyStatusSchema.shape;

/** Each member for itself: what can't be read is not there, and is written anew. */
const stored = z.object({
  conditions: readableItems(policyConditionSchema).optional().catch(undefined),
  workloads: readableItems(workloadStatusSchema).optional().catch(undefined),
  workloadsDiscovered: counts.workloadsDiscovered.catch(undefined),
  workloadsProcessed: counts.workloadsProcessed.catch(undefined),
  workloadsByType: counts.workloadsByType.catch(undefined),
  lastReconciliation: counts.lastReconciliation.catch(undefined),
  observedGeneration: counts.observedGeneration.catch(undefined),
});

/** The status, as far as it can be read; empty where there is none. */
export function storedPolicyStatus(raw: unknown): PolicyStatus {
  const { data = {} } = stored.safeParse(raw);
  return Object.fromEntries(
    Object.entries(data).filter(([, value]) => value !== undefined),
  );
}
