/**
 * Do the namespace's quotas leave room for the raises of all pods?
 *
 * @module
 */
import { methodFor } from "../../actuation/methods/choose_method.ts";
import { cutValues } from "./cut_values.ts";
import type { GuardVerdict } from "./guard.ts";
import type { QuotaRoom, RightsizingFacts } from "./rightsizing_facts.ts";
import { containersWanted, presentSubjects, type Subject } from "./subjects.ts";
import { fieldOf, formatAmount, type WantedResources } from "./wanted_resources.ts";

/**
 * Cuts raises to what the quotas leave, summed over all pods: a raise that fits one of them may be
 * refused to the last. Decreases always pass, and make room.
 */
export function overQuotas(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const subjects = presentSubjects(facts, methodFor(facts, wanted));
  const pods = subjects.reduce((sum, { count }) => sum + count, 0);
  const words: string[] = [];
  let fitting = wanted;
  for (const quota of facts.quotas) {
    const { name, resource, of: side } = quota;
    const net = netOf(subjects, { wanted: fitting, quota });
    const room = Math.max(0, quota.room);
    if (net <= room) continue;
    const field = fieldOf(resource, side);
    const base = (container: string): number =>
      Math.min(
        ...subjects.map(({ containers }) =>
          containers.find((one) => one.name === container)?.[field] ?? 0
        ),
      );
    fitting = cutValues(fitting, { resource, side, base, excess: Math.ceil((net - room) / pods) });
    words.push(
      `ResourceQuota ${name} leaves ${formatAmount(resource, room)} of ${side}s.${resource} ` +
        `for a raise of ${formatAmount(resource, net)} in ${pods} pods`,
    );
  }
  if (words.length === 0) return undefined;
  const message = words.join("; ");
  return { verdict: "clamp", reason: "QuotaExceeded", message, wanted: fitting };
}

interface Asked {
  readonly wanted: WantedResources;
  readonly quota: QuotaRoom;
}

/** Σ of raises less Σ of decreases over all pods. */
function netOf(
  subjects: readonly Subject[],
  { wanted, quota: { resource, of } }: Asked,
): number {
  const field = fieldOf(resource, of);
  return subjects.reduce((sum, subject) => {
    const after = containersWanted(subject, wanted);
    const own = subject.containers.reduce(
      (total, present, index) => total + (after[index]?.[field] ?? 0) - (present[field] ?? 0),
      0,
    );
    return sum + subject.count * own;
  }, 0);
}
